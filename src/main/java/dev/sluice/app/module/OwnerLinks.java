package dev.sluice.app.module;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.sluice.accounting.PodAccounts;
import dev.sluice.accounting.PodPrevention;
import dev.sluice.accounting.PodRecord;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.controller.BelievedOwners;
import dev.sluice.jobs.controller.CachedJobParser;
import dev.sluice.jobs.controller.Integration;
import dev.sluice.jobs.controller.IntegrationRegistry;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.Futures;
import dev.sluice.workload.record.CachedWorkload.Owner;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Reads the controllers of pods, and theirs, from the API server where their watches are behind: a
 * pod may be made before the watch tells of the job that makes it.
 *
 * @param client reads objects
 * @param jobs the kinds that are followed, and what is known of their objects
 * @param believed which owners are believed
 * @param accounts is told what controls what
 */
record OwnerLinks(
    ApiClient client, IntegrationRegistry jobs, BelievedOwners believed, PodAccounts accounts)
    implements PodPrevention.OwnerReader {

  private static final int DEEPEST = 10;

  /** Names of objects; what people write as a name may be anything, and becomes part of a path. */
  private static final Pattern NAME = Pattern.compile("[a-z0-9][-a-z0-9.]{0,252}");

  @Override
  public void read(PodRecord pod) throws InterruptedException {
    for (Owner owner : pod.owners()) {
      Optional<CachedJob.Controller> next = Optional.of(CachedJob.Controller.of(owner));
      for (int depth = 0; depth < DEEPEST && next.isPresent(); depth++) {
        next = above(pod.namespace(), next.get());
      }
    }
  }

  /** What controls an object; empty if nothing does, or if its kind isn't followed. */
  private Optional<CachedJob.Controller> above(String namespace, CachedJob.Controller object)
      throws InterruptedException {
    Optional<JobKind> kind =
        jobs.enabled().stream()
            .map(Integration::kind)
            .filter(it -> it.is(object.apiVersion(), object.kind()))
            .findFirst();
    if (kind.isEmpty() || object.uid().isEmpty()) {
      return Optional.empty();
    }
    Optional<CachedJob> known = jobs.find(namespace, object);
    if (known.isPresent()) {
      return known.get().controller();
    }
    JsonNode metadata = metadata(kind.get(), namespace, object.name());
    if (!JsonFields.text(metadata, "uid").equals(object.uid())) {
      return Optional.empty();
    }
    Optional<CachedJob.Controller> parent =
        CachedJobParser.controller(metadata)
            .flatMap(it -> believed.of(it, object.kind(), JsonFields.map(metadata, "labels")));
    parent
        .filter(it -> !it.uid().isEmpty())
        .ifPresent(it -> accounts.linked(object.uid(), it.uid()));
    return parent;
  }

  private JsonNode metadata(JobKind kind, String namespace, String name)
      throws InterruptedException {
    if (!NAME.matcher(name).matches()) {
      return MissingNode.getInstance();
    }
    ApiOutcome outcome = Futures.forResult(client.send(ApiRequest.get(kind.path(namespace, name))));
    return switch (outcome) {
      case ApiOutcome.Written read -> read.object().path("metadata");
      case ApiOutcome.Gone gone -> MissingNode.getInstance();
      default -> throw new IllegalStateException(kind.plural() + " not read: " + outcome);
    };
  }
}
