package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.controller.JobControllers.JobKindController;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.MultiKueueRules;
import dev.sluice.jobs.kind.ObjectKey;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.RbacRule;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.kind.WebhookRules;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.CachedJob.CachedJobParser;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.Reflector.Store;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * An entry of the {@link IntegrationRegistry}: one kind of job, and when and how it is controlled.
 *
 * @param description what the rest of the operator has to know of the kind
 * @param gate the feature gate that has to be on as well; empty if there is none
 * @param controller makes the controller of the kind; empty if the kind needs none, because the
 *     controller of another kind handles its pods, or because nothing is handled here
 */
public record Integration(
    JobKindDescription description,
    Optional<FeatureGate> gate,
    Optional<Function<JobControllerContext, JobKindController>> controller) {

  /** A kind whose objects are suspended and started by a field: all it needs is the integration. */
  public static Integration of(JobIntegration integration) {
    return controlled(integration, context -> new JobController(integration, context));
  }

  /** A kind with a controller of its own. */
  public static Integration controlled(
      JobKindDescription description,
      Function<JobControllerContext, JobKindController> controller) {
    return new Integration(description, Optional.empty(), Optional.of(controller));
  }

  /** A kind that another controller queues: its objects are only recognised as owners of jobs. */
  public static Integration external(JobKind kind) {
    return controlled(
        new ExternalOwner(kind), context -> new ExternalOwnerController(kind, context));
  }

  /** A kind that needs no controller. */
  public static Integration withoutController(JobKindDescription description) {
    return new Integration(description, Optional.empty(), Optional.empty());
  }

  /** The kind. */
  public JobKind kind() {
    return description.kind();
  }

  /** This entry, turned on only while a feature gate is on. */
  public Integration behind(FeatureGate required) {
    return new Integration(description, Optional.of(required), controller);
  }

  /** Whether a configuration with these frameworks and gates turns the kind on. */
  public boolean isEnabled(Collection<String> frameworks, Predicate<FeatureGate> gates) {
    return frameworks.contains(kind().framework()) && gate.filter(gates.negate()).isEmpty();
  }

  /**
   * Watches the objects of a kind that another controller queues, so that they are found as owners.
   */
  private static final class ExternalOwnerController implements JobKindController {

    private final JobKind kind;
    private final Reflector<Store.Item<CachedJob>> reflector;

    ExternalOwnerController(JobKind kind, JobControllerContext context) {
      this.kind = kind;
      JobIntegration integration = new ExternalOwner(kind);
      Store<CachedJob> owners = new Store<>(object -> CachedJobParser.of(integration, object));
      reflector = context.reflectors().of(kind.plural(), kind.collection(), owners);
      context.registry().register(kind, owners::find);
    }

    @Override
    public String name() {
      return kind.plural();
    }

    @Override
    public CompletableFuture<Void> start() {
      return reflector.start();
    }

    @Override
    public void leadershipStarted() {}

    @Override
    public void enqueue(ObjectKey object) {}

    @Override
    public Duration longestHandling() {
      return Duration.ZERO;
    }

    @Override
    public void close() {
      reflector.close();
    }
  }

  /**
   * A kind of job that another controller of this cluster queues: its objects are read, so that
   * jobs below them are recognised as their children, and nothing is ever done to them. Their pods
   * and states are the other controller's business.
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
      throw new StartConflictException(
          "jobs of " + kind.kind() + " are started by their controller");
    }

    @Override
    public Optional<JobPatch> nextStopStep(
        JsonNode object, Optional<List<PodSetTemplate>> original) {
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
}
