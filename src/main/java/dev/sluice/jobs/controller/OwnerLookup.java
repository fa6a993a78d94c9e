package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.kube.client.Futures;
import dev.sluice.workload.record.CachedWorkload.Owner;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks the API server whether an owner exists, whatever its kind. */
final class OwnerLookup {

  private static final Logger LOG = LoggerFactory.getLogger(OwnerLookup.class);

  private final JobClient objects;

  OwnerLookup(JobClient objects) {
    this.objects = objects;
  }

  /** What the API server says of an owner. */
  enum Answer {
    EXISTS,
    MISSING,
    /** The server doesn't answer, or this process may not read the kind. */
    UNKNOWN
  }

  Answer find(String namespace, Owner owner) throws InterruptedException {
    try {
      return read(namespace, owner);
    } catch (IllegalStateException refused) {
      LOG.debug("owner={}/{} not read: {}", namespace, owner.name(), refused.getMessage());
      return Answer.UNKNOWN;
    }
  }

  private Answer read(String namespace, Owner owner) throws InterruptedException {
    boolean core = !owner.apiVersion().contains("/");
    String version = (core ? "/api/" : "/apis/") + owner.apiVersion();
    Optional<ObjectNode> resources = Futures.forResult(objects.read(version));
    if (resources.isEmpty()) {
      String group = "/apis/" + owner.apiVersion().replaceFirst("/.*", "");
      return !core && Futures.forResult(objects.read(group)).isEmpty()
          ? Answer.MISSING
          : Answer.UNKNOWN;
    }
    Optional<JsonNode> resource =
        resources
            .get()
            .path("resources")
            .valueStream()
            .filter(each -> each.path("kind").asText().equals(owner.kind()))
            .filter(each -> !each.path("name").asText().contains("/"))
            .findFirst();
    if (resource.isEmpty()) {
      return Answer.MISSING;
    }
    String scope = resource.get().path("namespaced").asBoolean() ? "/namespaces/" + namespace : "";
    String path = version + scope + "/" + resource.get().path("name").asText() + "/" + owner.name();
    return Futures.forResult(objects.read(path))
            .filter(found -> found.path("metadata").path("uid").asText().equals(owner.uid()))
            .isPresent()
        ? Answer.EXISTS
        : Answer.MISSING;
  }
}
