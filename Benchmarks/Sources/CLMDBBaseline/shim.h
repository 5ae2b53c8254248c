#ifndef CLMDBBASELINE_SHIM_H
#define CLMDBBASELINE_SHIM_H

#include <lmdb.h>

#endif
