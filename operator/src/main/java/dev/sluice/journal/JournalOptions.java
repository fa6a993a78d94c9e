package dev.sluice.journal;

import java.nio.file.Path;
import java.time.Duration;

/**
 * How a journal is written (docs/journal.md#configuration).
 *
 * @param directory where; made if it doesn't exist
 * @param maxBytes how large it may get before the oldest segments are deleted
 * @param maxAge how old a segment may get
 * @param segmentBytes the size at which the next segment is begun
 * @param syncInterval how often what was written is synced to the disk
 */
public record JournalOptions(
    Path directory, long maxBytes, Duration maxAge, long segmentBytes, Duration syncInterval) {}
