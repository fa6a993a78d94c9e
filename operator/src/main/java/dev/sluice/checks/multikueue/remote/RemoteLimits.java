package dev.sluice.checks.multikueue.remote;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Duration;

/**
 * How much is read from one worker cluster. What one object exceeds makes that object unreadable;
 * what the worker exceeds as a whole cuts it off.
 *
 * @param objectBytes the longest object that is read, as JSON
 * @param objectValues the most tokens of an object's JSON: names, values, beginnings and ends
 * @param keptBytes the most bytes of all objects that are kept of the worker
 * @param bytesPerSecond how fast the worker's objects are read in the long run
 */
public record RemoteLimits(int objectBytes, int objectValues, long keptBytes, int bytesPerSecond) {

  private static final int MIB = 1 << 20;

  /** The API server stores objects of 1.5 MiB, and writes some of them twice as long. */
  private static final int OBJECT_BYTES = 3 * MIB;

  /** A Workload with 8,000 environment variables has 50,000. */
  private static final int OBJECT_VALUES = 200_000;

  private static final int BYTES_PER_SECOND = 8 * MIB;
  private static final int PART_OF_HEAP = 8;
  private static final int DEPTH = 1000;

  /** Objects kept besides their JSON: key, index, entries of the maps. */
  static final int OBJECT_OVERHEAD = 400;

  /** Managed fields, which are read and not kept, may take more than the object. */
  private static final int LISTED_PER_KEPT = 4;

  /** With what namespaces have beyond their share, a listing takes as much as a store holds. */
  private static final int READ_PER_LISTED = 16;

  private static final int SMALLEST_PAGE = 50;

  /**
   * The limits that suit a process.
   *
   * @param heap the most bytes that the process's objects may take
   */
  public static RemoteLimits ofHeap(long heap) {
    return new RemoteLimits(OBJECT_BYTES, OBJECT_VALUES, heap / PART_OF_HEAP, BYTES_PER_SECOND);
  }

  /**
   * The most bytes of all objects of one namespace that are kept. Whoever may make jobs in a
   * namespace of the worker, or in one of the manager, says how many there are and how large they
   * are, and must not have the worker cut off from everybody else by that.
   */
  long keptBytesOfNamespace() {
    return keptBytes / 2;
  }

  /** The most bytes of one listing, without what namespaces have beyond their share. */
  long listedBytes() {
    return LISTED_PER_KEPT * keptBytes;
  }

  /** The most bytes of one listing. */
  long readBytes() {
    return READ_PER_LISTED * listedBytes();
  }

  /** The most pages of one listing. */
  long pages() {
    return keptBytes / OBJECT_OVERHEAD / SMALLEST_PAGE + 1;
  }

  /** How many bytes are read at once after a quiet time. */
  int burst() {
    return (int) Math.clamp(keptBytes, objectBytes, Integer.MAX_VALUE);
  }

  /** Reads trees of objects that keep these limits. */
  public ObjectMapper mapper() {
    return new ObjectMapper(
        JsonFactory.builder()
            .streamReadConstraints(
                StreamReadConstraints.builder()
                    .maxNestingDepth(DEPTH)
                    .maxTokenCount(objectValues)
                    .build())
            .build());
  }

  /** How long a worker may be silent; its API server sends bookmarks every minute. */
  static final Duration SILENCE = Duration.ofSeconds(150);
}
