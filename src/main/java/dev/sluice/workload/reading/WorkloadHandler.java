package dev.sluice.workload.reading;

import dev.sluice.kube.reflect.ListWatch;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadCache;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Brings listed and watched Workloads into the cache. A listing may begin before the cache may be
 * changed: what is read until then is kept aside.
 */
class WorkloadHandler implements ListWatch.Handler {

  private final WorkloadParser parser;
  private final WorkloadCache cache;
  private final MalformedObjectLog malformedObjectLog;
  private final CompletableFuture<Void> started;
  private final List<CachedWorkload> aside = new ArrayList<>();

  /** Changes the cache when {@code started} is complete. */
  WorkloadHandler(
      WorkloadParser parser,
      WorkloadCache cache,
      MalformedObjectLog malformedObjectLog,
      CompletableFuture<Void> started) {
    this.parser = parser;
    this.cache = cache;
    this.malformedObjectLog = malformedObjectLog;
    this.started = started;
  }

  @Override
  public void listingBegins() {
    aside.clear();
    cache.listingBegins();
  }

  @Override
  public void object(byte[] bytes, int offset, int length, boolean deleted) {
    try {
      CachedWorkload workload = parser.parse(bytes, offset, length);
      if (deleted) {
        cache.deleted(workload);
      } else {
        seen(workload);
      }
    } catch (IOException | RuntimeException | StackOverflowError e) {
      malformedObjectLog.report(bytes, offset, length, e);
    }
  }

  private void seen(CachedWorkload workload) {
    if (started.isDone()) {
      addAside();
      cache.seen(workload);
    } else {
      aside.add(workload);
    }
  }

  private void addAside() {
    aside.forEach(cache::seen);
    aside.clear();
  }

  @Override
  public void reached(String version) throws IOException {
    cache.reached(number(version));
  }

  @Override
  public void listingEnds(String version) throws IOException {
    long number = number(version);
    started.join();
    addAside();
    cache.listingEnds(number);
  }

  private static long number(String version) throws IOException {
    try {
      return Long.parseLong(version);
    } catch (NumberFormatException e) {
      throw new IOException("the resourceVersion is no number", e);
    }
  }
}
