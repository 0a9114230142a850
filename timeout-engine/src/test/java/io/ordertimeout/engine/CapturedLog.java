package io.ordertimeout.engine;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** Captures the log of the engine and suppresses its console output. */
final class CapturedLog extends Handler implements AutoCloseable {

  private final Logger logger = Logger.getLogger(ShardedTimers.class.getPackageName());
  private final List<LogRecord> records = new CopyOnWriteArrayList<>();

  CapturedLog() {
    logger.addHandler(this);
    logger.setUseParentHandlers(false);
  }

  List<String> messages() {
    return records.stream().map(LogRecord::getMessage).toList();
  }

  @Override
  public void publish(LogRecord entry) {
    records.add(entry);
  }

  @Override
  public void flush() {}

  @Override
  public void close() {
    logger.removeHandler(this);
    logger.setUseParentHandlers(true);
  }
}
