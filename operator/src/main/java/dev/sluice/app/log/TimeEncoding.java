package dev.sluice.app.log;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

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
