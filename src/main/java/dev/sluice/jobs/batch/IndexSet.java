package dev.sluice.jobs.batch;

import java.util.BitSet;

/** Indexes of an indexed Job, as its status writes them: {@code 1,3-5,7}. */
final class IndexSet {

  private final BitSet indexes = new BitSet();

  private IndexSet() {}

  /** Reads the written form; empty text means no index. What can't be read is left out. */
  static IndexSet parse(String text) {
    IndexSet set = new IndexSet();
    for (String part : text.split(",", -1)) {
      int dash = part.indexOf('-');
      String first = dash < 0 ? part : part.substring(0, dash);
      String last = dash < 0 ? part : part.substring(dash + 1);
      if (isNumber(first) && isNumber(last)) {
        set.indexes.set(Integer.parseInt(first), Integer.parseInt(last) + 1);
      }
    }
    return set;
  }

  private static boolean isNumber(String text) {
    return !text.isEmpty() && text.length() < 9 && text.chars().allMatch(Character::isDigit);
  }

  /** The indexes of either. */
  IndexSet union(IndexSet other) {
    IndexSet result = new IndexSet();
    result.indexes.or(indexes);
    result.indexes.or(other.indexes);
    return result;
  }

  /** How many. */
  int size() {
    return indexes.cardinality();
  }
}
