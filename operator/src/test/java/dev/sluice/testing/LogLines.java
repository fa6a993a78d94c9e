package dev.sluice.testing;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import org.slf4j.LoggerFactory;

/** What the process logs from the time this is made until it is closed, of any test. */
public final class LogLines implements AutoCloseable {

  private final ConcurrentLinkedQueue<String> lines = new ConcurrentLinkedQueue<>();
  private final Appender appender = new Appender();
  private final Logger root;

  private final class Appender extends AppenderBase<ILoggingEvent> {
    @Override
    protected void append(ILoggingEvent event) {
      lines.add(event.getFormattedMessage());
      if (event.getThrowableProxy() != null) {
        lines.add(String.valueOf(event.getThrowableProxy().getMessage()));
      }
    }
  }

  /** Begins to listen. */
  public LogLines() {
    root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    appender.start();
    root.addAppender(appender);
  }

  /** All lines so far. */
  public String text() {
    return lines.stream().collect(Collectors.joining("\n"));
  }

  @Override
  public void close() {
    root.detachAppender(appender);
    appender.stop();
  }
}
