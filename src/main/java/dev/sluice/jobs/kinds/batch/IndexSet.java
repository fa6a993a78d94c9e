package dev.sluice.jobs.kinds.batch;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Indexes of an indexed Job, as its status writes them: {@code 1,3-5,7}. Kept as ranges, so that
 * memory grows with the text alone and not with the numbers in it.
 */
final class IndexSet {

  /** As many digits as the largest 32-bit number has, which is the most that an index can be. */
  private static final int MOST_DIGITS = 10;

  private final List<Range> ranges;

  private record Range(long first, long last) {}

  private IndexSet(List<Range> ranges) {
    this.ranges = ranges;
  }

  /**
   * Reads the written form; empty text means no index. Left out are indexes from {@code
   * completions} on, which the Job can't have, and parts that are no index and no range from a
   * lower index to a higher one.
   */
  static IndexSet parse(String text, int completions) {
    List<Range> ranges = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      int dash = part.indexOf('-');
      String first = dash < 0 ? part : part.substring(0, dash);
      String last = dash < 0 ? part : part.substring(dash + 1);
      if (isNumber(first) && isNumber(last)) {
        Range range =
            new Range(Long.parseLong(first), Math.min(Long.parseLong(last), completions - 1L));
        if (range.first() <= range.last()) {
          ranges.add(range);
        }
      }
    }
    return new IndexSet(ranges);
  }

  private static boolean isNumber(String text) {
    return !text.isEmpty()
        && text.length() <= MOST_DIGITS
        && text.chars().allMatch(digit -> digit >= '0' && digit <= '9');
  }

  /** The indexes of either. */
  IndexSet union(IndexSet other) {
    List<Range> both = new ArrayList<>(ranges);
    both.addAll(other.ranges);
    return new IndexSet(both);
  }

  /** How many different indexes. */
  int size() {
    long size = 0;
    long next = 0;
    for (Range range : ranges.stream().sorted(Comparator.comparingLong(Range::first)).toList()) {
      if (range.last() >= next) {
        size += range.last() - Math.max(range.first(), next) + 1;
        next = range.last() + 1;
      }
    }
    return Math.toIntExact(size);
  }
}
