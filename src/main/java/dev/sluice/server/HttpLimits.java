package dev.sluice.server;

import java.time.Duration;

/**
 * How much of this process the clients of one server can use together. A request that doesn't fit
 * waits for a while and is then answered with status 503.
 *
 * @param bodies bytes of all bodies that are being read or answered
 * @param work estimated bytes that answering takes, of all requests together; a third of it is for
 *     answers that are streamed
 * @param concurrent requests that are answered at a time; an eighth as many more are streamed
 * @param transfer how long a client may take to send a body, and as long to read the answer
 * @param patience how long a request waits for others to end
 */
public record HttpLimits(
    long bodies, long work, int concurrent, Duration transfer, Duration patience) {

  private static final int CONCURRENT = 512;
  private static final Duration TRANSFER = Duration.ofSeconds(20);
  private static final Duration PATIENCE = Duration.ofSeconds(8);

  /** For a process that has this many bytes of heap: an eighth for bodies, a quarter for work. */
  public static HttpLimits forHeap(long heap) {
    return new HttpLimits(heap / 8, heap / 4, CONCURRENT, TRANSFER, PATIENCE);
  }

  /** For this process. */
  public static HttpLimits ofThisProcess() {
    return forHeap(Runtime.getRuntime().maxMemory());
  }
}
