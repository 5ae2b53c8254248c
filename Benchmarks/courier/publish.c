// Publishes messages of one size to a stream of JetStream as fast as libnats does it, and waits until all are acknowledged.
//
// publish URL STREAM COUNT BYTES: prints seconds.
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void check(natsStatus status, const char *what) {
    if (status == NATS_OK) return;
    fprintf(stderr, "publish: %s: %s\n", what, natsStatus_GetText(status));
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    long messages = atol(arguments[3]), bytes = atol(arguments[4]);
    natsConnection *connection = NULL;
    jsCtx *context = NULL;
    jsOptions options;
    jsStreamConfig config;
    check(natsConnection_ConnectTo(&connection, arguments[1]), "connect");
    check(jsOptions_Init(&options), "options");
    options.PublishAsync.MaxPending = 4096;
    check(natsConnection_JetStream(&context, connection, &options), "context");
    check(jsStreamConfig_Init(&config), "config");
    const char *subjects[] = {arguments[2]};
    config.Name = arguments[2];
    config.Subjects = subjects;
    config.SubjectsLen = 1;
    check(js_AddStream(NULL, context, &config, NULL, NULL), "make stream");
    // Bytes that no compressor between here and the disk makes fewer.
    char *data = malloc(bytes);
    unsigned int state = 1;
    for (long place = 0; place < bytes; place++) data[place] = (char)((state = state * 1664525 + 1013904223) >> 24);
    double begin = now();
    for (long message = 0; message < messages; message++)
        check(js_PublishAsync(context, arguments[2], data, (int)bytes, NULL), "publish");
    jsPubOptions limit;
    jsPubOptions_Init(&limit);
    limit.MaxWait = 120000;
    check(js_PublishAsyncComplete(context, &limit), "acknowledgements");
    printf("%.3f\n", now() - begin);
    return 0;
}
