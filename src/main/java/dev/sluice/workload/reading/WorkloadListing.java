package dev.sluice.workload.reading;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.kube.client.ResponseStream;
import dev.sluice.kube.client.StreamingListParser;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadCache;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Lists all Workloads page by page into the cache. A listing may begin before the cache may be
 * changed: what is read until then is kept aside.
 */
final class WorkloadListing {

  /** Opens the answer to the request for a page. */
  @FunctionalInterface
  interface PageOpener {
    /** The page after the one that gave {@code next}; the first when it is empty. */
    ResponseStream open(String next) throws IOException;
  }

  private final WorkloadParser parser;
  private final WorkloadCache index;
  private final MalformedObjectLog malformedObjectLog;
  private final CompletableFuture<Void> started;
  private final List<CachedWorkload> aside = new ArrayList<>();

  /** Changes the cache when {@code started} is complete. */
  WorkloadListing(
      WorkloadParser parser,
      WorkloadCache index,
      MalformedObjectLog malformedObjectLog,
      CompletableFuture<Void> started) {
    this.parser = parser;
    this.index = index;
    this.malformedObjectLog = malformedObjectLog;
    this.started = started;
  }

  /** Lists all Workloads; Workloads that don't exist any more are removed from the cache. */
  void run(PageOpener pages) throws IOException {
    aside.clear();
    index.listingBegins();
    String next = "";
    long version = 0;
    do {
      JsonNode metadata = page(pages, next);
      long ofPage = metadata.path("resourceVersion").asLong(0);
      if (version == 0) {
        version = ofPage;
      }
      next = metadata.path("continue").asText("");
    } while (!next.isEmpty());
    if (version == 0) {
      throw new IOException("the list has no resourceVersion");
    }
    started.join();
    addAside();
    index.listingEnds(version);
  }

  private void addAside() {
    aside.forEach(index::seen);
    aside.clear();
  }

  private JsonNode page(PageOpener pages, String next) throws IOException {
    try (ResponseStream page = pages.open(next)) {
      byte[] frame = StreamingListParser.split(page, this::item);
      // Reads the response to its end, so that the connection can be reused for the next page.
      page.transferTo(OutputStream.nullOutputStream());
      return JsonMappers.JSON.readTree(frame).path("metadata");
    }
  }

  private void seen(CachedWorkload workload) {
    if (started.isDone()) {
      addAside();
      index.seen(workload);
    } else {
      aside.add(workload);
    }
  }

  private void item(byte[] bytes, int length) {
    try {
      seen(parser.parse(bytes, 0, length));
    } catch (IOException | RuntimeException | StackOverflowError e) {
      malformedObjectLog.report(bytes, 0, length, e);
    }
  }
}
