package dev.sluice.server.endpoints;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.common.base.Throwables;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.forecast.feed.WorkloadSimulator;
import dev.sluice.jobs.controller.JobSimulator;
import dev.sluice.jobs.controller.JobSimulator.Answer;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.server.auth.AccessReviews;
import dev.sluice.server.auth.RequestBudget;
import dev.sluice.server.auth.RequestUsers;
import dev.sluice.server.auth.UserAction;
import dev.sluice.server.http.HttpHandler;
import dev.sluice.server.http.OverBudgetException;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.Response;
import dev.sluice.visibility.api.VisibilityApi;
import dev.sluice.webhooks.kinds.ManifestReview;
import dev.sluice.webhooks.review.WebhookRouter.ClusterNotListedException;
import dev.sluice.webhooks.review.WebhookRouter.RequestingUser;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * {@code POST …/namespaces/NAMESPACE/simulations} below the visibility API: what would become of
 * the job that the body is the manifest of, JSON or YAML (docs/simulate.md). For who may create
 * objects of its kind there; everything else is answered by another handler. Errors are {@code
 * Status} objects.
 */
public final class SimulationEndpoint extends PathEndpoint {

  private static final Logger LOG = LoggerFactory.getLogger(SimulationEndpoint.class);

  private static final Pattern PATH =
      Pattern.compile(
          "/apis/"
              + Pattern.quote(VisibilityApi.GROUP)
              + "/v[a-z0-9]+/namespaces/([^/]+)/"
              + VisibilityApi.SIMULATIONS);

  /** The longest manifest. */
  private static final int MAX_BODY = 1024 * 1024;

  private static final Duration PATIENCE = Duration.ofSeconds(3);
  private static final int BAD_REQUEST = 400;
  private static final int INVALID = 422;
  private static final int UNAVAILABLE = 503;

  private static final String TOO_MANY = "too many simulations are asked for; try again";

  /** How long a request waits for each of its turns, the turn included. */
  private static final Duration LONGEST = PATIENCE.multipliedBy(2);

  /** So many manifests may wait for the one that is looked at. */
  private static final int MOST_WAITING = 4;

  private final ThreadPoolExecutor reviewer =
      new ThreadPoolExecutor(
          0,
          1,
          1,
          TimeUnit.MINUTES,
          new ArrayBlockingQueue<>(MOST_WAITING),
          Thread.ofPlatform().daemon().name("simulated-manifests").factory());

  /** The tenants of which a manifest is looked at, or waits for that. */
  private final Set<String> inTurn = ConcurrentHashMap.newKeySet();

  private final CallerCheck callerCheck;
  private final ManifestReview manifestReview;
  private final JobSimulator jobSimulator;

  /**
   * Creates the endpoint.
   *
   * @param manifestReview sets the defaults of webhooks
   * @param requestBudget what one tenant may ask for
   * @param others answers other paths
   */
  public SimulationEndpoint(
      RequestUsers users,
      AccessReviews access,
      ManifestReview manifestReview,
      JobSimulator jobSimulator,
      RequestBudget requestBudget,
      HttpHandler others) {
    super(PATH, others);
    this.callerCheck = new CallerCheck(users, access, requestBudget);
    this.manifestReview = manifestReview;
    this.jobSimulator = jobSimulator;
  }

  /** What one tenant may ask for: two in a second, ten after a quiet time. */
  public static RequestBudget budget(InstantSource clock) {
    return new RequestBudget("simulations", 2, 10, 0, clock);
  }

  @Override
  int maxBody() {
    return MAX_BODY;
  }

  @Override
  long ownCost(Request request) {
    // a tree, and the Workload that is made of it
    return 16L * request.requestBody().length();
  }

  @Override
  Response answer(Request request, Matcher path) {
    return callerCheck.answer(
        request,
        user -> {
          if (!request.method().equals("POST")) {
            return VisibilityEndpoint.failure(
                405,
                "MethodNotAllowed",
                "method " + request.method() + " is not allowed, use POST");
          }
          callerCheck.requestBudget().take(requesting(user).tenant());
          return inTurn(user, () -> read(request, user, path.group(1)));
        });
  }

  /**
   * Looks at one manifest at a time, whoever asks, and at one of each tenant: a tenant has as many
   * accounts as he likes. Reading and reviewing one takes a thread that is not one of those that
   * requests, leader election and readers share. What is left to do, such as to wait for others, is
   * done by the caller's thread, when the turn is over.
   */
  private Response inTurn(UserInfo user, Callable<Supplier<Response>> step) {
    String tenant = requesting(user).tenant();
    if (!inTurn.add(tenant)) {
      return unavailable(TOO_MANY);
    }
    Supplier<Response> rest;
    try {
      rest = ofReviewer(step);
    } finally {
      inTurn.remove(tenant);
    }
    return rest.get();
  }

  private Supplier<Response> ofReviewer(Callable<Supplier<Response>> step) {
    try {
      Future<Supplier<Response>> answer = reviewer.submit(step);
      try {
        return answer.get(LONGEST.toMillis(), TimeUnit.MILLISECONDS);
      } finally {
        answer.cancel(true);
      }
    } catch (RejectedExecutionException | TimeoutException e) {
      return () -> unavailable(TOO_MANY);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return () -> unavailable("the request was interrupted");
    } catch (ExecutionException e) {
      Throwable cause = Objects.requireNonNullElse(e.getCause(), e);
      if (cause instanceof IOException unreadable) {
        return () -> notReadable(unreadable);
      }
      Throwables.throwIfUnchecked(cause);
      throw new IllegalStateException(cause);
    }
  }

  /** As the API server tells webhooks who creates an object. */
  private static RequestingUser requesting(UserInfo user) {
    return new RequestingUser(user.getUsername(), Set.copyOf(user.getGroups()), true);
  }

  private static Response notReadable(IOException e) {
    return VisibilityEndpoint.failure(
        BAD_REQUEST, "BadRequest", "the body is no manifest: " + message(e));
  }

  private static String message(IOException e) {
    return e instanceof JsonProcessingException wrong
        ? wrong.getOriginalMessage()
        : String.valueOf(e.getMessage());
  }

  /** Reads the manifest; what is left is to ask for access, and then a turn to review it. */
  private Supplier<Response> read(Request request, UserInfo user, String namespace)
      throws IOException {
    ObjectNode manifest = manifest(request);
    String kindName = manifest.path("kind").asText();
    Optional<JobKind> kind = jobSimulator.kind(manifest.path("apiVersion").asText(), kindName);
    if (kind.isEmpty()) {
      return () -> invalid("jobs of kind \"" + kindName + "\" are not queued here");
    }
    return () ->
        callerCheck.ifAllowed(
            user,
            on("create", kind.get(), namespace),
            () -> inTurn(user, () -> reviewed(request, user, namespace, kind.get(), manifest)));
  }

  /** Reviews the manifest, and makes its Workload; what is left is to wait for the answer. */
  private Supplier<Response> reviewed(
      Request request, UserInfo user, String namespace, JobKind kind, ObjectNode manifest)
      throws IOException {
    ObjectNode metadata = asNew(manifest);
    String named = metadata.path("namespace").asText();
    if (!named.isEmpty() && !named.equals(namespace)) {
      return () ->
          VisibilityEndpoint.failure(
              BAD_REQUEST,
              "BadRequest",
              "metadata.namespace: \""
                  + named
                  + "\" is not the namespace of the path, "
                  + namespace);
    }
    metadata.put("namespace", namespace);
    request
        .parameter("queue")
        .ifPresent(
            queue -> metadata.withObjectProperty("labels").put(KueueConstants.QUEUE_NAME, queue));
    try {
      ManifestReview.Reviewed reviewed = manifestReview.of(kind, manifest, requesting(user));
      if (!reviewed.errors().isEmpty()) {
        return () -> invalid("it would be refused: " + String.join("; ", reviewed.errors()));
      }
      Supplier<Answer> prepared =
          jobSimulator.prepared(
              reviewed.object(),
              () -> new WorkloadSimulator.Asker(requesting(user).tenant(), PATIENCE));
      return () -> answered(request, user, prepared.get());
    } catch (ClusterNotListedException e) {
      return () -> unavailable(String.valueOf(e.getMessage()));
    } catch (OverBudgetException | KubernetesClientException e) {
      throw e;
    } catch (RuntimeException e) {
      // no schema has been before this, as it has been before a webhook
      LOG.debug("manifest of kind={} can't be read", kind.kind(), e);
      return () -> invalid("the manifest can't be read: a field has a value of another type");
    }
  }

  /**
   * Takes away what the API server takes away of a new object, such as one that was exported.
   *
   * @return the metadata
   * @throws IOException if a part of the metadata is no object
   */
  private static ObjectNode asNew(ObjectNode manifest) throws IOException {
    for (String part : new String[] {"/metadata", "/metadata/labels", "/metadata/annotations"}) {
      JsonNode found = manifest.at(part);
      if (!found.isMissingNode() && !found.isNull() && !found.isObject()) {
        throw new IOException(part.substring(1).replace('/', '.') + " is no object");
      }
    }
    manifest.remove("status");
    ObjectNode metadata = manifest.withObjectProperty("metadata");
    metadata.remove(
        List.of(
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "creationTimestamp",
            "resourceVersion",
            "managedFields"));
    return metadata;
  }

  private Response answered(Request request, UserInfo user, Answer answer) {
    return switch (answer) {
      case Answer.Busy() -> unavailable(TOO_MANY);
      case Answer.NotQueued(var why) -> invalid(why);
      case Answer.Simulated(var result, var note, var workers) -> {
        ObjectNode document =
            SimulationDocument.of(
                result,
                other ->
                    callerCheck
                        .access()
                        .isAllowed(
                            user,
                            new UserAction.OnResource(
                                "get",
                                KueueConstants.GROUP,
                                "v1beta2",
                                "workloads",
                                "",
                                other,
                                "")));
        SimulationDocument.add(document, workers);
        if (!note.isEmpty()) {
          document.put("note", note).withArray("text").add(note);
        }
        yield request.parameter("output").filter("text"::equals).isPresent()
            ? Response.text(200, String.join("\n", SimulationDocument.text(document)))
            : VisibilityEndpoint.json(200, document);
      }
    };
  }

  private static UserAction on(String verb, JobKind kind, String namespace) {
    return new UserAction.OnResource(
        verb, kind.group(), kind.version(), kind.plural(), "", namespace, "");
  }

  /** The only document of the body. */
  private static ObjectNode manifest(Request request) throws IOException {
    try (InputStream body = request.requestBody().open();
        MappingIterator<JsonNode> documents =
            JsonMappers.YAML.readerFor(JsonNode.class).readValues(body)) {
      JsonNode first = documents.hasNextValue() ? documents.nextValue() : null;
      if (!(first instanceof ObjectNode manifest)) {
        throw new IOException("it is no object");
      }
      if (documents.hasNextValue()) {
        throw new IOException("it has more than one object");
      }
      return manifest;
    }
  }

  private static Response invalid(String message) {
    return VisibilityEndpoint.failure(INVALID, "Invalid", message);
  }

  private static Response unavailable(String message) {
    return VisibilityEndpoint.failure(UNAVAILABLE, "ServiceUnavailable", message);
  }
}
