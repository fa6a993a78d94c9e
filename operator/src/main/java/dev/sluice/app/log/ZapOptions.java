package dev.sluice.app.log;

import ch.qos.logback.classic.Level;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The logging flags of other operators of this API, so that their command lines go on to work. A
 * value that isn't known is refused by name.
 */
public final class ZapOptions {

  private static final Map<String, Level> LEVELS =
      Map.of(
          "debug",
          Level.DEBUG,
          "info",
          Level.INFO,
          "warn",
          Level.WARN,
          "error",
          Level.ERROR,
          "panic",
          Level.ERROR);
  private static final Map<String, Level> STACK_TRACE_LEVELS =
      Map.of("info", Level.INFO, "warn", Level.WARN, "error", Level.ERROR, "panic", Level.OFF);
  private static final List<String> TRUE = List.of("1", "t", "true");
  private static final List<String> FALSE = List.of("0", "f", "false");

  @Option(
      names = "--zap-devel",
      arity = "0..1",
      fallbackValue = "true",
      paramLabel = "true|false",
      description = "Log from debug on, with stack traces from warnings on.")
  private @Nullable String devel;

  @Option(
      names = "--zap-encoder",
      paramLabel = "console|json",
      description = "Log lines of key=value (console, the default), or JSON objects.")
  private @Nullable String encoder;

  @Option(
      names = "--zap-log-level",
      paramLabel = "LEVEL",
      description =
          "debug, info, error or panic, or a verbosity: 1 and 2 are info, 3 and 4 debug, 5 and more"
              + " trace. Not together with --log-level.")
  private @Nullable String level;

  @Option(
      names = "--zap-stacktrace-level",
      paramLabel = "info|error|panic",
      description = "From which level on exceptions are logged with their stack trace.")
  private @Nullable String stackTraceLevel;

  @Option(
      names = "--zap-time-encoding",
      paramLabel = "ENCODING",
      description = "epoch, millis, nano, iso8601, rfc3339 or rfc3339nano (the default).")
  private @Nullable String timeEncoding;

  /** A value of a flag that isn't known; the message names flag, value and what is allowed. */
  public static final class InvalidValueException extends Exception {
    private static final long serialVersionUID = 1L;

    InvalidValueException(String flag, String value, String allowed) {
      super("%s: \"%s\" is not %s".formatted(flag, value, allowed));
    }

    /** The message. */
    public String text() {
      return String.valueOf(getMessage());
    }
  }

  /** The level that the flags ask for; empty if they don't. */
  Optional<Level> level() throws InvalidValueException {
    boolean development = development();
    if (level == null) {
      return development ? Optional.of(Level.DEBUG) : Optional.empty();
    }
    String word = level.toLowerCase(Locale.ROOT);
    if (word.matches("[1-9][0-9]{0,8}")) {
      int verbosity = Integer.parseInt(word);
      return Optional.of(verbosity <= 2 ? Level.INFO : verbosity <= 4 ? Level.DEBUG : Level.TRACE);
    }
    return Optional.of(
        known(
            "--zap-log-level",
            level,
            LEVELS.get(word),
            "debug, info, error, panic or a whole number of at least 1"));
  }

  /** How entries are written, if a flag says something about it. */
  Optional<LogEncoder> encoder() throws InvalidValueException {
    boolean development = development();
    if (encoder == null && stackTraceLevel == null && timeEncoding == null && devel == null) {
      return Optional.empty();
    }
    String format = encoder == null ? "console" : encoder.toLowerCase(Locale.ROOT);
    boolean json =
        known(
            "--zap-encoder",
            format,
            Map.of("json", true, "console", false).get(format),
            "json or console");
    TimeEncoding time =
        timeEncoding == null
            ? TimeEncoding.RFC3339_NANO
            : known(
                "--zap-time-encoding",
                timeEncoding,
                TimeEncoding.named(timeEncoding).orElse(null),
                "one of " + String.join(", ", TimeEncoding.names()));
    Level stackTraces =
        stackTraceLevel == null
            ? development ? Level.WARN : Level.ERROR
            : known(
                "--zap-stacktrace-level",
                stackTraceLevel,
                STACK_TRACE_LEVELS.get(stackTraceLevel.toLowerCase(Locale.ROOT)),
                "info, error or panic");
    return Optional.of(new LogEncoder(json, time, stackTraces));
  }

  private boolean development() throws InvalidValueException {
    if (devel == null) {
      return false;
    }
    String word = devel.toLowerCase(Locale.ROOT);
    return known(
        "--zap-devel",
        devel,
        TRUE.contains(word) ? Boolean.TRUE : FALSE.contains(word) ? Boolean.FALSE : null,
        "true or false");
  }

  private static <T> T known(String flag, String value, @Nullable T meaning, String allowed)
      throws InvalidValueException {
    if (meaning == null) {
      throw new InvalidValueException(flag, value, allowed);
    }
    return meaning;
  }

  /** How the time of a log line is written; the words of {@code --zap-time-encoding}. */
  enum TimeEncoding {
    EPOCH("epoch", true, time -> seconds(time).toPlainString()),
    MILLIS("millis", true, time -> seconds(time).movePointRight(3).toPlainString()),
    NANO("nano", true, time -> seconds(time).movePointRight(9).toPlainString()),
    ISO8601("iso8601", false, pattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'")::format),
    RFC3339("rfc3339", false, time -> time.truncatedTo(ChronoUnit.SECONDS).toString()),
    RFC3339_NANO("rfc3339nano", false, Instant::toString);

    private final String text;
    private final boolean number;
    private final Function<Instant, String> format;

    TimeEncoding(String text, boolean number, Function<Instant, String> format) {
      this.text = text;
      this.number = number;
      this.format = format;
    }

    /** The encoding of this name, in upper or lower case. */
    static Optional<TimeEncoding> named(String text) {
      return Arrays.stream(values())
          .filter(encoding -> encoding.text.equals(text.toLowerCase(Locale.ROOT)))
          .findFirst();
    }

    /** All names. */
    static List<String> names() {
      return Arrays.stream(values()).map(encoding -> encoding.text).toList();
    }

    /** Whether the time is a number. */
    boolean isNumber() {
      return number;
    }

    /** A time in this encoding. */
    String text(Instant time) {
      return format.apply(time);
    }

    private static BigDecimal seconds(Instant time) {
      return BigDecimal.valueOf(time.getEpochSecond()).add(BigDecimal.valueOf(time.getNano(), 9));
    }

    private static DateTimeFormatter pattern(String pattern) {
      return DateTimeFormatter.ofPattern(pattern, Locale.ROOT).withZone(ZoneOffset.UTC);
    }
  }
}
