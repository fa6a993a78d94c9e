package dev.sluice.workload.writing;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.core.model.WorkloadId;
import java.util.concurrent.CompletableFuture;

/** Writes statuses as a test says; anything else that is written fails the test. */
@FunctionalInterface
public interface StatusWriter extends WorkloadWriter {

  @Override
  default CompletableFuture<Outcome> patch(WorkloadId id, long version, JsonNode patch) {
    throw new AssertionError("only statuses are written");
  }

  @Override
  default CompletableFuture<Outcome> create(String namespace, JsonNode workload) {
    throw new AssertionError("only statuses are written");
  }

  @Override
  default CompletableFuture<Outcome> delete(WorkloadId id) {
    throw new AssertionError("only statuses are written");
  }
}
