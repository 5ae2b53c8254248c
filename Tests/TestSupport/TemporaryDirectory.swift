public import EventLog
