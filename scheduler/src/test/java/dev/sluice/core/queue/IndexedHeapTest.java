package dev.sluice.core.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class IndexedHeapTest {

  private static final class Numbered extends IndexedHeap.Entry {
    int rank;

    Numbered(int rank) {
      this.rank = rank;
    }
  }

  private final IndexedHeap<Numbered> heap =
      new IndexedHeap<>(Comparator.comparingInt(entry -> entry.rank));

  @Test
  void isEmptyAtFirst() {
    assertThat(heap.first()).isNull();
    assertThat(heap.isEmpty()).isTrue();
  }

  @Test
  void theLeastIsFirstWhateverIsAddedRemovedOrMoved() {
    Random random = new Random(7);
    List<Numbered> members = new ArrayList<>();
    for (int step = 0; step < 20_000; step++) {
      int dice = random.nextInt(10);
      if (dice < 4 || members.isEmpty()) {
        Numbered entry = new Numbered(random.nextInt(50));
        heap.add(entry);
        members.add(entry);
      } else if (dice < 7) {
        Numbered entry = members.remove(random.nextInt(members.size()));
        heap.remove(entry);
        assertThat(entry.inHeap()).isFalse();
      } else {
        Numbered entry = members.get(random.nextInt(members.size()));
        entry.rank = random.nextInt(50);
        heap.moved(entry);
      }
      assertThat(heap.size()).isEqualTo(members.size());
      Numbered first = heap.first();
      int least = members.stream().mapToInt(entry -> entry.rank).min().orElse(-1);
      assertThat(first == null ? -1 : first.rank).isEqualTo(least);
    }
  }

  @Test
  void theLeastValueIsFoundBehindEntriesOfLaterValue() {
    Random random = new Random(8);
    assertThat(heap.least(entry -> entry.rank, entry -> entry.rank)).isEqualTo(Long.MAX_VALUE);
    List<Numbered> members = new ArrayList<>();
    for (int step = 0; step < 2_000; step++) {
      Numbered added = new Numbered(random.nextInt(50));
      heap.add(added);
      members.add(added);
      int later = random.nextInt(9);
      assertThat(heap.least(entry -> entry.rank, entry -> later(entry, later)))
          .isEqualTo(members.stream().mapToLong(entry -> later(entry, later)).min().orElseThrow());
      if (members.size() > 20) {
        heap.remove(members.removeFirst());
      }
    }
  }

  /** The value of an entry, later than its rank for some of them. */
  private static long later(Numbered entry, int which) {
    return entry.rank % 9 == which ? entry.rank : entry.rank + 30L;
  }

  @Test
  void drainsInOrder() {
    for (int rank : new int[] {5, 3, 9, 3, 1, 8}) {
      heap.add(new Numbered(rank));
    }
    List<Integer> drained = new ArrayList<>();
    for (Numbered first = heap.first(); first != null; first = heap.first()) {
      drained.add(first.rank);
      heap.remove(first);
    }
    assertThat(drained).containsExactly(1, 3, 3, 5, 8, 9);
  }
}
