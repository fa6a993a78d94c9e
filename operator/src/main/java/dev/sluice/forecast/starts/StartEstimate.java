package dev.sluice.forecast.starts;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * When a pending Workload is expected to start (docs/expected-starts.md).
 *
 * @param basis where the estimate comes from
 * @param range the times; empty if there is no date
 * @param computedAt the time of the state that it was computed from
 * @param assumptions what was assumed, or why there is no date; sentences for people
 */
public record StartEstimate(
    Basis basis, Optional<StartRange> range, Instant computedAt, List<String> assumptions) {

  public StartEstimate {
    assumptions = List.copyOf(assumptions);
  }

  /** Where an estimate comes from, from the strongest to the weakest. */
  public enum Basis {
    /** Run times that owners declared. */
    DECLARED("Declared"),
    /** Run times that were learned. */
    LEARNED("Learned"),
    /** Upper bounds of run times. */
    LIMIT("Limit"),
    /** How long others waited in the queue. */
    QUEUE_HISTORY("QueueHistory"),
    /** There is no date. */
    UNKNOWN("Unknown"),
    /** It doesn't start as things are. */
    NEVER("Never");

    private final String apiName;

    Basis(String apiName) {
      this.apiName = apiName;
    }

    /** The name that people read. */
    public String apiName() {
      return apiName;
    }
  }

  /**
   * Times of a start.
   *
   * @param earliest one of ten starts comes before
   * @param expected one of two does
   * @param latest nine of ten do; empty if nobody can tell
   */
  public record StartRange(Instant earliest, Instant expected, Optional<Instant> latest) {

    /** Whether a start at this time is in the range. */
    public boolean contains(Instant start) {
      return !start.isBefore(earliest) && latest.filter(start::isAfter).isEmpty();
    }
  }
}
