package dev.sluice.scheduling.preemption;

import dev.sluice.queue.Holder;
import dev.sluice.scheduling.preemption.Source.Cursor;
import org.jspecify.annotations.Nullable;

/** The candidates of one queue, one after the other: those being evicted first. */
final class Line {

  private final Source source;
  private @Nullable Cursor evicted;
  private @Nullable Cursor staying;
  private @Nullable Holder only;

  private Line(
      Source source, @Nullable Cursor evicted, @Nullable Cursor staying, @Nullable Holder only) {
    this.source = source;
    this.evicted = evicted;
    this.staying = staying;
    this.only = only;
  }

  /** All that the preemptor's policies allow. */
  static Line of(Source source, Preemptor preemptor) {
    return new Line(
        source,
        source.candidates(preemptor, true, false),
        source.candidates(preemptor, false, false),
        null);
  }

  /** A single one. */
  static Line of(Source source, Holder only) {
    return new Line(source, null, null, only);
  }

  Source source() {
    return source;
  }

  /** The one whose turn it is; null at the end. */
  @Nullable Holder first() {
    if (evicted != null && evicted.current() != null) {
      return evicted.current();
    }
    return staying == null ? only : staying.current();
  }

  /** The next one, please. */
  void advance() {
    if (evicted != null && evicted.current() != null) {
      evicted.advance();
    } else if (staying != null) {
      staying.advance();
    } else {
      only = null;
    }
  }

  /** No more of them. */
  void close() {
    evicted = null;
    staying = null;
    only = null;
  }
}
