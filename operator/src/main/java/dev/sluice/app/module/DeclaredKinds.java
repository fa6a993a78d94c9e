package dev.sluice.app.module;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.ApiVersions;
import dev.sluice.api.config.AddedJobKind;
import dev.sluice.api.config.DeclaredJobKind;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.sluice.JobKindReader;
import dev.sluice.api.sluice.SpecFault;
import dev.sluice.jobs.kind.AddedKinds.ProvidedKind;
import dev.sluice.jobs.kind.DeclaredJob;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.RbacRule;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.Reflector.Store;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectAccessReview;
import io.fabric8.kubernetes.api.model.authorization.v1.SelfSubjectAccessReviewBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The kinds of jobs that the cluster declares (docs/declared-kinds.md). They are read before
 * anything else is made, because webhooks and controllers follow from them. From then on they are
 * watched, the leader writes whether they are followed, and a change has the operator start anew.
 */
public final class DeclaredKinds implements OperatorModule {

  private static final Logger LOG = LoggerFactory.getLogger(DeclaredKinds.class);
  private static final String COLLECTION =
      "/apis/"
          + ApiVersions.SLUICE_GROUP
          + "/"
          + ApiVersions.SLUICE_VERSION
          + "/"
          + JobKindReader.PLURAL;
  private static final Duration RIGHTS_AGAIN = Duration.ofSeconds(30);

  /** A replica that doesn't lead starts anew later: one of two serves webhooks at any time. */
  private static final Duration FOLLOWS = Duration.ofSeconds(15);

  private static final List<JobKind> BUILT_IN =
      Stream.concat(
              BuiltInIntegrations.descriptions().stream().map(it -> it.kind()),
              BuiltInIntegrations.reconciledKinds().stream())
          .distinct()
          .toList();

  private final OperatorContext context;
  private final Store<Seen> store = new Store<>(Seen::of);
  private final Reflector<Store.Item<Seen>> reflector;
  private final AtomicBoolean asked = new AtomicBoolean();
  private final ReentrantLock looking = new ReentrantLock();
  private final List<AddedJobKind> followed;
  private final List<JobKind> known;
  private volatile boolean leading;
  private volatile boolean closed;

  /** Follows the JobKinds of a cluster; the configuration has those that were read at the start. */
  public DeclaredKinds(OperatorContext context) {
    this.context = context;
    List<AddedJobKind> added = context.configuration().integrations().added();
    followed = added.stream().filter(DeclaredJobKind.class::isInstance).toList();
    known = known(added);
    reflector = context.reflectors().of(JobKindReader.PLURAL, COLLECTION, store);
    store.observe((before, after) -> lookSoon());
  }

  /** The built-in kinds, and those that jars provide. */
  public static List<JobKind> known(List<? extends AddedJobKind> added) {
    return Stream.concat(
            BUILT_IN.stream(),
            added.stream()
                .filter(ProvidedKind.class::isInstance)
                .map(each -> ((ProvidedKind) each).kind()))
        .toList();
  }

  /** What is kept of a JobKind. */
  private record Seen(
      String name, long generation, JobKindReader.Reading reading, JsonNode condition) {

    static Seen of(JsonNode object) {
      String name = JsonFields.text(object, "metadata", "name");
      return new Seen(
          name,
          object.path("metadata").path("generation").asLong(),
          JobKindReader.read(name, object.path("spec")),
          JsonFields.list(object, "status", "conditions").stream()
              .filter(condition -> JsonFields.text(condition, "type").equals("Active"))
              .findFirst()
              .orElseGet(MissingNode::getInstance));
    }
  }

  /** Whether a JobKind is followed, and why not. */
  private record Finding(String reason, String message) {

    static final Finding ACTIVE = new Finding("Active", "Jobs of this kind are queued");

    boolean isActive() {
      return equals(ACTIVE);
    }
  }

  /**
   * The declarations that are followed, by name. A cluster without the definition has none, and so
   * has an operator that may not read them. An API server that answers that it can't tell now, such
   * as while it learns of the definition, holds no start up: the watch tells later, and the
   * operator starts anew if there are any.
   *
   * @param taken the kinds that are known without them
   * @throws KubernetesClientException if no API server answers
   */
  public static List<DeclaredJobKind> read(KubernetesClient client, List<JobKind> taken) {
    try {
      List<Seen> seen = new ArrayList<>();
      String text = client.raw(COLLECTION);
      if (text != null) {
        JsonMappers.JSON.readTree(text).path("items").forEach(each -> seen.add(Seen.of(each)));
      }
      Map<Seen, Finding> findings = judge(client, seen, taken);
      findings.forEach(
          (each, finding) ->
              LOG.info(
                  "jobkind={} active={} {}", each.name(), finding.isActive(), finding.message()));
      return active(findings);
    } catch (KubernetesClientException e) {
      if (ApiErrorText.unreachable(e)) {
        throw e;
      }
      LOG.warn("jobkinds read=false reason=\"{}\"", ApiErrorText.of(e));
    } catch (IOException e) {
      LOG.warn("jobkinds read=false reason=\"{}\"", ApiErrorText.of(e));
    }
    return List.of();
  }

  private static List<DeclaredJobKind> active(Map<Seen, Finding> findings) {
    return findings.entrySet().stream()
        .filter(each -> each.getValue().isActive())
        .flatMap(each -> each.getKey().reading().declaration().stream())
        .toList();
  }

  /** In the order of names; of two for one kind the first is followed. */
  private static Map<Seen, Finding> judge(
      KubernetesClient client, List<Seen> seen, List<JobKind> known) {
    Map<Seen, Finding> findings = new LinkedHashMap<>();
    List<JobKind> taken = new ArrayList<>(known);
    seen.stream()
        .sorted(Comparator.comparing(Seen::name))
        .forEach(each -> findings.put(each, judge(client, each, taken)));
    return findings;
  }

  private static Finding judge(KubernetesClient client, Seen seen, List<JobKind> taken) {
    Optional<DeclaredJobKind> declaration = seen.reading().declaration();
    if (declaration.isEmpty()) {
      return new Finding(
          "Invalid",
          seen.reading().faults().stream()
              .map(SpecFault::toString)
              .collect(Collectors.joining("; ")));
    }
    DeclaredJob job = new DeclaredJob(declaration.get());
    JobKind kind = job.kind();
    if (taken.stream().anyMatch(it -> it.is(kind.apiVersion(), kind.kind()))) {
      return new Finding(
          "Invalid",
          "spec.kind: \"%s\": jobs of this kind of %s are queued without it"
              .formatted(kind.kind(), kind.group()));
    }
    taken.add(kind);
    List<String> missing = missing(client, job.roles());
    return missing.isEmpty()
        ? Finding.ACTIVE
        : new Finding("NotPermitted", "The operator has no right to " + String.join(", ", missing));
  }

  private static List<String> missing(KubernetesClient client, List<RbacRule> needed) {
    List<String> missing = new ArrayList<>();
    for (RbacRule rule : needed) {
      for (String verb : rule.verbs()) {
        if (!isAllowed(client, rule, verb)) {
          missing.add(verb + " " + rule.resource() + "." + rule.group());
        }
      }
    }
    return missing;
  }

  private static boolean isAllowed(KubernetesClient client, RbacRule rule, String verb) {
    String[] resource = rule.resource().split("/", 2);
    SelfSubjectAccessReview review =
        client
            .authorization()
            .v1()
            .selfSubjectAccessReview()
            .create(
                new SelfSubjectAccessReviewBuilder()
                    .withNewSpec()
                    .withNewResourceAttributes()
                    .withGroup(rule.group())
                    .withResource(resource[0])
                    .withSubresource(resource.length > 1 ? resource[1] : null)
                    .withVerb(verb)
                    .endResourceAttributes()
                    .endSpec()
                    .build());
    return review.getStatus() != null && Boolean.TRUE.equals(review.getStatus().getAllowed());
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException {
    Optional<String> unreadable = context.unreadable(List.of(JobKindReader.PLURAL));
    CompletableFuture<Void> listed = reflector.start();
    if (unreadable.isEmpty()) {
      cacheSync.await(JobKindReader.PLURAL, listed);
    }
  }

  @Override
  public void leadershipStarted() {
    leading = true;
    lookSoon();
  }

  @Override
  public void leadershipEnded() {
    leading = false;
  }

  /** Looks on another thread, once for any number of changes meanwhile. */
  private void lookSoon() {
    if (!asked.getAndSet(true) && !closed) {
      context.executor().execute(this::look);
    }
  }

  private void look() {
    looking.lock();
    try {
      asked.set(false);
      Map<Seen, Finding> findings = judge(context.client(), store.all().toList(), known);
      if (leading) {
        findings.forEach(this::tell);
      }
      if (!active(findings).equals(followed)) {
        context.schedule(leading ? Duration.ZERO : FOLLOWS, this::startAnew);
      } else if (findings.values().stream().anyMatch(it -> it.reason().equals("NotPermitted"))) {
        context.schedule(RIGHTS_AGAIN, this::lookSoon);
      }
    } catch (KubernetesClientException e) {
      if (!closed) {
        LOG.warn("jobkinds judged=false reason=\"{}\"", ApiErrorText.of(e));
        context.schedule(RIGHTS_AGAIN, this::lookSoon);
      }
    } finally {
      looking.unlock();
    }
  }

  private void startAnew() {
    if (!closed) {
      context.process().again().accept("the kinds of jobs that the cluster declares have changed");
    }
  }

  private void tell(Seen seen, Finding finding) {
    JsonNode before = seen.condition();
    String status = finding.isActive() ? "True" : "False";
    if (status.equals(JsonFields.text(before, "status"))
        && finding.reason().equals(JsonFields.text(before, "reason"))
        && finding.message().equals(JsonFields.text(before, "message"))
        && before.path("observedGeneration").asLong() == seen.generation()) {
      return;
    }
    Instant now = context.clock().instant();
    ObjectNode patch = JsonMappers.JSON.createObjectNode();
    patch
        .putObject("status")
        .putArray("conditions")
        .addObject()
        .put("type", "Active")
        .put("status", status)
        .put("reason", finding.reason())
        .put("message", finding.message())
        .put("observedGeneration", seen.generation())
        .put(
            "lastTransitionTime",
            status.equals(JsonFields.text(before, "status"))
                ? JsonFields.text(before, "lastTransitionTime")
                : now.toString());
    if (context
            .requests(1)
            .send(ApiRequest.patch(COLLECTION + "/" + seen.name() + "/status", patch))
            .join()
        instanceof ApiOutcome.Refused refused) {
      LOG.warn(
          "jobkind={} status=refused code={} reason=\"{}\"",
          seen.name(),
          refused.code(),
          refused.message());
    }
  }

  @Override
  public void close() {
    closed = true;
    reflector.close();
  }
}
