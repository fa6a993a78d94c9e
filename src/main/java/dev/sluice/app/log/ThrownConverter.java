package dev.sluice.app.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.pattern.ThrowableHandlingConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;

/**
 * The conversion word {@code thrown} of {@code logback.xml}: the exception of a log entry, with its
 * stack trace from {@code ERROR} on, below that only its message. Libraries warn of each failure
 * that they repeat, and nobody reads the stack traces of these. It is what {@link LogEncoder} does
 * unless {@code --zap-stacktrace-level} says otherwise.
 */
public final class ThrownConverter extends ThrowableHandlingConverter {

  @Override
  public String convert(ILoggingEvent event) {
    IThrowableProxy thrown = event.getThrowableProxy();
    if (thrown == null) {
      return "";
    }
    return event.getLevel().isGreaterOrEqual(Level.ERROR)
        ? "\n" + ThrowableProxyUtil.asString(thrown).stripTrailing()
        : " error=\"" + LogEncoder.oneLine(LogEncoder.summary(thrown)) + "\"";
  }
}
