package dev.sluice.api.config;

import java.time.Duration;

/**
 * Whether and how a journal is written (docs/journal.md).
 *
 * @param enabled whether it is; all other fields have no effect without it
 * @param directory where; empty only if it isn't written
 * @param maxBytes the size of all segments
 * @param maxAge how old a segment may get
 * @param segmentBytes the size at which the next segment begins
 * @param syncInterval how often what was written is synced
 */
public record JournalSettings(
    boolean enabled,
    String directory,
    long maxBytes,
    Duration maxAge,
    long segmentBytes,
    Duration syncInterval) {

  /** Reads the block {@code journal}, which files of both versions may have. */
  static JournalSettings decode(ObjectFieldReader file) {
    ObjectFieldReader fields = file.object("journal");
    boolean enabled = fields.flag("enable", false);
    String directory = fields.text("directory", "");
    fields.check(
        "directory",
        directory.startsWith("/") || (directory.isEmpty() && !enabled),
        directory,
        "the absolute path of a directory");
    long segmentBytes = fields.bytes("segmentBytes", "64Mi", 1L << 16, 1L << 30);
    long maxBytes = fields.bytes("maxBytes", "2Gi", 1L << 17, 1L << 50);
    if (maxBytes < 2 * segmentBytes) {
      fields.refuse("maxBytes", "has to be at least twice segmentBytes, which is " + segmentBytes);
    }
    Duration maxAge = fields.duration("maxAge", Duration.ofHours(720), Duration.ofMinutes(1));
    Duration syncInterval =
        fields.duration("syncInterval", Duration.ofSeconds(1), Duration.ofMillis(1));
    return fields.done(
        new JournalSettings(enabled, directory, maxBytes, maxAge, segmentBytes, syncInterval));
  }
}
