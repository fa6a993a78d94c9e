package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.RbacRule;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.kind.WebhookRules;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A kind of job that another controller of this cluster queues: its objects are read, so that jobs
 * below them are recognised as their children, and nothing is ever done to them. Their pods and
 * states are the other controller's business.
 *
 * @param kind the kind
 */
record ExternalOwner(JobKind kind) implements JobIntegration {

  @Override
  public JobState state(JsonNode object) {
    return new JobState(false, false, false, false, Optional.empty(), false, Map.of());
  }

  @Override
  public List<PodSetTemplate> podSets(JsonNode object) {
    return List.of();
  }

  @Override
  public List<JobPatch> start(ObjectNode object, List<PodSetInfo> starts)
      throws StartConflictException {
    throw new StartConflictException("jobs of " + kind.kind() + " are started by their controller");
  }

  @Override
  public Optional<JobPatch> nextStopStep(JsonNode object, Optional<List<PodSetTemplate>> original) {
    return Optional.empty();
  }

  @Override
  public Optional<MultiKueueRules> multiKueue() {
    return Optional.empty();
  }

  @Override
  public WebhookRules webhooks() {
    return WebhookRules.atCreation(new WebhookRules.Review.Unreviewed());
  }

  @Override
  public List<RbacRule> roles() {
    return List.of(new RbacRule(kind.group(), kind.plural(), List.of("get", "list", "watch")));
  }
}
