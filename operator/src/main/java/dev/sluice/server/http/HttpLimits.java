package dev.sluice.server.http;

import java.time.Duration;

/**
 * Limits on the resources that all clients of one server use together. A request over a limit waits
 * for a while and then gets status 503.
 *
 * @param bodies bytes of all bodies that are being read or processed
 * @param work estimated bytes for computing all responses; a third of it is for streamed responses
 * @param concurrent number of requests processed concurrently; in addition, an eighth of it is
 *     streamed
 * @param transfer how long a client may take to send a body, and to read the response
 * @param queueTimeout how long a request waits for other requests to end
 */
public record HttpLimits(
    long bodies, long work, int concurrent, Duration transfer, Duration queueTimeout) {

  private static final int CONCURRENT = 512;
  private static final Duration TRANSFER = Duration.ofSeconds(20);
  private static final Duration QUEUE_TIMEOUT = Duration.ofSeconds(8);

  /** Limits for a heap of this many bytes: an eighth for bodies, a quarter for work. */
  public static HttpLimits forHeap(long heap) {
    return new HttpLimits(heap / 8, heap / 4, CONCURRENT, TRANSFER, QUEUE_TIMEOUT);
  }

  /** Limits for this process. */
  public static HttpLimits ofThisProcess() {
    return forHeap(Runtime.getRuntime().maxMemory());
  }
}
