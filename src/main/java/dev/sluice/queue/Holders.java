package dev.sluice.queue;

import java.util.Iterator;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Those who hold quota of one queue, in the order in which they would be preempted. Confined to the
 * engine's thread.
 */
public final class Holders {

  private final NavigableSet<Holder> evicted = new TreeSet<>(Holder.VICTIM_ORDER);
  private final NavigableSet<Holder> staying = new TreeSet<>(Holder.VICTIM_ORDER);

  /** Adds one. */
  public void add(Holder holder) {
    of(holder.evicted()).add(holder);
  }

  /** Takes one out. */
  public void remove(Holder holder) {
    of(holder.evicted()).remove(holder);
  }

  /** Each of them, first victim first. */
  public void forEach(Consumer<Holder> action) {
    evicted.forEach(action);
    staying.forEach(action);
  }

  /** How many there are. */
  public int size() {
    return evicted.size() + staying.size();
  }

  /** Those that are being evicted, or those that are not, first victim first. */
  public Iterator<Holder> inVictimOrder(boolean ofEvicted) {
    return of(ofEvicted).iterator();
  }

  private NavigableSet<Holder> of(boolean ofEvicted) {
    return ofEvicted ? evicted : staying;
  }
}
