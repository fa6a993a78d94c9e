package dev.sluice.server.endpoints;

import dev.sluice.server.http.Response;

/** What a process can tell of its threads, its memory and its use of the processor. */
public interface ProcessProfiles {

  /** The stack of each thread. */
  String threads();

  /**
   * The objects on the heap by class: how many there are, and how large they are.
   *
   * @param collect whether garbage is collected before; else it is counted, too
   */
  String heap(boolean collect);

  /** A recording of this many seconds; the call takes so long. */
  Response recording(int seconds);
}
