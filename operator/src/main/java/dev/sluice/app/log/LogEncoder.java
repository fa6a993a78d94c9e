package dev.sluice.app.log;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.app.log.ZapOptions.TimeEncoding;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Locale;
import java.util.Optional;

/** Writes a log entry as the flags {@code --zap-*} ask for: as a line of words, or as JSON. */
final class LogEncoder extends EncoderBase<ILoggingEvent> {

  private static final byte[] NOTHING = {};

  private final boolean json;
  private final TimeEncoding time;
  private final Level stackTracesFrom;

  /**
   * Creates an encoder.
   *
   * @param json whether an entry is a JSON object; else it is a line of {@code key=value}
   * @param stackTracesFrom the level from which an exception is written with its stack trace
   */
  LogEncoder(boolean json, TimeEncoding time, Level stackTracesFrom) {
    this.json = json;
    this.time = time;
    this.stackTracesFrom = stackTracesFrom;
  }

  @Override
  public byte[] headerBytes() {
    return NOTHING;
  }

  @Override
  public byte[] encode(ILoggingEvent event) {
    return (json ? object(event) : line(event)).getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public byte[] footerBytes() {
    return NOTHING;
  }

  private String object(ILoggingEvent event) {
    ObjectNode entry = JsonNodeFactory.withExactBigDecimals(true).objectNode();
    entry.put("level", event.getLevel().toString().toLowerCase(Locale.ROOT));
    String at = time.text(at(event));
    if (time.isNumber()) {
      entry.put("ts", new BigDecimal(at));
    } else {
      entry.put("ts", at);
    }
    entry.put("logger", logger(event));
    entry.put("msg", event.getFormattedMessage());
    thrown(event)
        .ifPresent(
            thrown -> {
              entry.put("error", summary(thrown));
              if (withStackTrace(event)) {
                entry.put("stacktrace", ThrowableProxyUtil.asString(thrown).stripTrailing());
              }
            });
    return entry + "\n";
  }

  private String line(ILoggingEvent event) {
    StringBuilder line =
        new StringBuilder("time=")
            .append(time.text(at(event)))
            .append(" level=")
            .append(event.getLevel())
            .append(" logger=")
            .append(logger(event))
            .append(' ')
            .append(oneLine(event.getFormattedMessage()));
    Optional<IThrowableProxy> thrown = thrown(event);
    if (thrown.isEmpty()) {
      return line.append('\n').toString();
    }
    return withStackTrace(event)
        ? line.append('\n').append(ThrowableProxyUtil.asString(thrown.get())).toString()
        : line.append(" error=\"").append(oneLine(summary(thrown.get()))).append("\"\n").toString();
  }

  private boolean withStackTrace(ILoggingEvent event) {
    return event.getLevel().isGreaterOrEqual(stackTracesFrom);
  }

  private static Optional<IThrowableProxy> thrown(ILoggingEvent event) {
    return Optional.ofNullable(event.getThrowableProxy());
  }

  /** The class and the message of an exception. */
  static String summary(IThrowableProxy thrown) {
    String message = thrown.getMessage();
    return message == null ? thrown.getClassName() : thrown.getClassName() + ": " + message;
  }

  private static Instant at(ILoggingEvent event) {
    Instant exact = event.getInstant();
    return exact == null ? Instant.ofEpochMilli(event.getTimeStamp()) : exact;
  }

  /** The simple name of the type, also of one that is nested in another. */
  private static String logger(ILoggingEvent event) {
    String name = event.getLoggerName();
    return name.substring(Math.max(name.lastIndexOf('.'), name.lastIndexOf('$')) + 1);
  }

  /** A text without line breaks. */
  static String oneLine(String text) {
    return text.indexOf('\n') < 0 ? text : text.replaceAll("\r?\n", " | ");
  }
}
