package dev.sluice.server.endpoints;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerQueries;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.forecast.starts.StartEstimate;
import dev.sluice.server.auth.AccessReviews;
import dev.sluice.server.auth.RequestBudget;
import dev.sluice.server.auth.RequestUsers;
import dev.sluice.server.auth.UserAction;
import dev.sluice.server.http.HttpHandler;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.Response;
import dev.sluice.visibility.api.PendingWorkloadsSummary;
import dev.sluice.visibility.api.VisibilityApi;
import dev.sluice.visibility.api.VisibilityApi.Queue;
import dev.sluice.workload.record.WorkloadLister;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import java.io.IOException;
import java.io.OutputStream;
import java.math.BigInteger;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The aggregated API {@code visibility.kueue.x-k8s.io}: the pending Workloads of ClusterQueues and
 * LocalQueues with their positions, on every replica. Who asks, and whether he may, is decided by
 * the cluster. Errors are {@code Status} objects.
 */
public final class VisibilityEndpoint implements HttpHandler {

  private static final Pattern VERSION =
      Pattern.compile(
          "(/openapi/v3)?/apis/" + Pattern.quote(VisibilityApi.GROUP) + "/(v[a-z0-9]+)(/.*)?");
  private static final Pattern PENDING =
      Pattern.compile(
          "(?:/namespaces/([^/]+))?/([a-z]+)/([^/]+)/" + VisibilityApi.PENDING_WORKLOADS);
  private static final Pattern OTHER_FORM = Pattern.compile(";\\s*as=");
  private static final Duration QUERY_TIMEOUT = Duration.ofSeconds(10);

  /** A list that asks for estimates waits for so long, and then is shown without them. */
  private static final Duration ESTIMATES_TIMEOUT = Duration.ofSeconds(1);

  /** Pages of one user: a program that watches 500 queues asks for each every ten seconds. */
  private static final int PER_SECOND = 50;

  private static final int BURST = 200;

  /** What an entry of a page takes until it is sent. */
  private static final int BYTES_PER_ENTRY = 64;

  private final CallerCheck callerCheck;
  private final WorkloadLister workloads;
  private final SchedulerQueries engine;
  private final Starts starts;
  private final HttpHandler others;

  /** Says when pending Workloads start; among the answers may be Workloads of other queues. */
  public interface Starts {

    /**
     * What is known of Workloads of a ClusterQueue.
     *
     * @param patience how long to wait for a computation; none is begun if it is zero
     */
    Map<WorkloadId, StartEstimate> ofClusterQueue(String name, Duration patience);

    /** The same of Workloads of a LocalQueue. */
    Map<WorkloadId, StartEstimate> ofLocalQueue(LocalQueueId queue, Duration patience);
  }

  /**
   * Creates the endpoint.
   *
   * @param engine answers for positions; {@link SharedPositions}, so that it isn't kept from
   *     deciding
   * @param starts says when pending Workloads start
   * @param others answers paths that are none of this API's
   */
  public VisibilityEndpoint(
      RequestUsers users,
      AccessReviews access,
      WorkloadLister workloads,
      SchedulerQueries engine,
      Starts starts,
      HttpHandler others) {
    this.callerCheck =
        new CallerCheck(
            users,
            access,
            new RequestBudget("pages", PER_SECOND, BURST, 0, InstantSource.system()));
    this.workloads = workloads;
    this.engine = engine;
    this.starts = starts;
    this.others = others;
  }

  private static boolean serves(String path) {
    return path.equals("/apis")
        || path.startsWith("/apis/") && !path.endsWith("/" + VisibilityApi.EXPLANATION)
        || path.equals("/openapi")
        || path.startsWith("/openapi/");
  }

  @Override
  public boolean asksForCertificates() {
    return true;
  }

  @Override
  public int maxBody(String path) {
    return 0;
  }

  @Override
  public long cost(Request request) {
    return isStreamed(request.path())
        ? (long) PageOptions.parse(request.query()).limit() * BYTES_PER_ENTRY
        : others.cost(request);
  }

  @Override
  public boolean isStreamed(String path) {
    return path.endsWith("/" + VisibilityApi.PENDING_WORKLOADS);
  }

  @Override
  public Response answer(Request request) {
    if (!serves(request.path())) {
      return others.answer(request);
    }
    Optional<PendingPath> pending = PendingPath.parse(request.path());
    UserAction action =
        pending
            .<UserAction>map(PendingPath::action)
            .orElseGet(() -> new UserAction.OnPath("get", request.path()));
    return callerCheck.answer(
        request, user -> callerCheck.ifAllowed(user, action, () -> read(request, user, pending)));
  }

  private Response read(Request request, UserInfo user, Optional<PendingPath> pending) {
    if (!request.method().equals("GET")) {
      return failure(
          405, "MethodNotAllowed", "method " + request.method() + " is not allowed, use GET");
    }
    if (pending.isPresent()) {
      callerCheck.take(user);
      return pending(pending.get(), PageOptions.parse(request.query()));
    }
    return asksForAnotherForm(request)
        ? failure(406, "NotAcceptable", "only application/json in its usual form is served")
        : document(request.path());
  }

  /**
   * Whether a client takes nothing but documents that are made of several. The API server asks for
   * such a one of the whole discovery first, and in the usual way when it is refused; an answer of
   * another kind makes discovery of the group stale, and then no namespace can be deleted.
   */
  private static boolean asksForAnotherForm(Request request) {
    List<String> forms =
        request.headerValues("accept").stream()
            .flatMap(value -> Stream.of(value.split(",")))
            .toList();
    return !forms.isEmpty() && forms.stream().allMatch(form -> OTHER_FORM.matcher(form).find());
  }

  /** A path of pending Workloads; {@code namespace} is empty for ClusterQueues. */
  private record PendingPath(String version, String namespace, Queue queue, String name) {

    static Optional<PendingPath> parse(String path) {
      Matcher versioned = VERSION.matcher(path);
      if (!versioned.matches() || versioned.group(1) != null || versioned.group(3) == null) {
        return Optional.empty();
      }
      Matcher rest = PENDING.matcher(versioned.group(3));
      String version = versioned.group(2);
      if (!rest.matches() || !VisibilityApi.VERSIONS.contains(version)) {
        return Optional.empty();
      }
      Queue queue = rest.group(1) == null ? Queue.CLUSTER_QUEUE : Queue.LOCAL_QUEUE;
      String namespace = rest.group(1) == null ? "" : rest.group(1);
      return rest.group(2).equals(queue.plural())
          ? Optional.of(new PendingPath(version, namespace, queue, rest.group(3)))
          : Optional.empty();
    }

    UserAction action() {
      return new UserAction.OnResource(
          "get",
          VisibilityApi.GROUP,
          version,
          queue.plural(),
          VisibilityApi.PENDING_WORKLOADS,
          namespace,
          name);
    }
  }

  private Response pending(PendingPath path, PageOptions page) {
    CompletableFuture<Optional<List<PendingPosition>>> asked =
        path.queue() == Queue.CLUSTER_QUEUE
            ? engine.pendingInClusterQueue(path.name(), page.offset(), page.limit())
            : engine.pendingInLocalQueue(
                new LocalQueueId(path.namespace(), path.name()), page.offset(), page.limit());
    try {
      Optional<List<PendingPosition>> found =
          EngineAnswer.await(asked, QUERY_TIMEOUT, "pending Workloads of " + path);
      return found
          .map(
              positions ->
                  summary(
                      new PendingWorkloadsSummary(
                          path.version(), positions, workloads, starts(path, page, positions))))
          .orElseGet(
              () ->
                  failure(
                      404,
                      "NotFound",
                      "%s.%s \"%s\" not found"
                          .formatted(path.queue().plural(), VisibilityApi.GROUP, path.name())));
    } catch (EngineAnswer.MissingException e) {
      return unavailable(e.text());
    }
  }

  private Map<WorkloadId, StartEstimate> starts(
      PendingPath path, PageOptions page, List<PendingPosition> positions) {
    if (positions.isEmpty()) {
      return Map.of();
    }
    Duration patience = page.estimates() ? ESTIMATES_TIMEOUT : Duration.ZERO;
    return path.queue() == Queue.CLUSTER_QUEUE
        ? starts.ofClusterQueue(path.name(), patience)
        : starts.ofLocalQueue(new LocalQueueId(path.namespace(), path.name()), patience);
  }

  private static Response summary(PendingWorkloadsSummary summary) {
    return new Response(
        200,
        "application/json",
        new Response.Content() {
          @Override
          public long length() {
            return -1;
          }

          @Override
          public void writeTo(OutputStream out) throws IOException {
            summary.writeTo(out);
          }
        });
  }

  private static Response document(String path) {
    Matcher versioned = VERSION.matcher(path);
    if (versioned.matches()
        && versioned.group(3) == null
        && VisibilityApi.VERSIONS.contains(versioned.group(2))) {
      String version = versioned.group(2);
      return json(
          200,
          versioned.group(1) == null
              ? VisibilityApi.resources(version)
              : VisibilityApi.openApi3(version));
    }
    return switch (path) {
      case "/apis" -> json(200, VisibilityApi.groups());
      case "/apis/" + VisibilityApi.GROUP -> json(200, VisibilityApi.group());
      case "/openapi/v2" -> json(200, VisibilityApi.openApi2());
      case "/openapi/v3" -> json(200, VisibilityApi.openApi3());
      default -> failure(404, "NotFound", "the server could not find the requested resource");
    };
  }

  private static Response unavailable(String message) {
    return failure(503, "ServiceUnavailable", message);
  }

  /** An error, as API servers answer it. */
  static Response failure(int code, String reason, String message) {
    ObjectNode status =
        JsonMappers.JSON.createObjectNode().put("kind", "Status").put("apiVersion", "v1");
    status.putObject("metadata");
    status.put("status", "Failure").put("message", message).put("reason", reason).put("code", code);
    return json(code, status);
  }

  /** A document. */
  static Response json(int status, ObjectNode body) {
    try {
      return new Response(status, "application/json", JsonMappers.JSON.writeValueAsBytes(body));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree can be written", e);
    }
  }

  /**
   * Which part of a queue is wanted.
   *
   * @param offset how many Workloads are left out at the beginning
   * @param limit the most that are shown
   * @param estimates whether expected starts are to be computed
   */
  private record PageOptions(int offset, int limit, boolean estimates) {

    private static final int USUAL_LIMIT = 1_000;
    private static final int MAX_LIMIT = 100_000;
    private static final BigInteger MOST = BigInteger.valueOf(Integer.MAX_VALUE);

    /**
     * Reads {@code offset} and {@code limit} of a query. An absent limit or one of 0 counts as
     * 1,000, a greater one than 100,000 as that, a negative one shows nothing; a negative offset
     * counts as 0; what is not a number counts as absent. {@code estimates} counts if it is {@code
     * true}.
     *
     * @param query the raw query, empty if absent
     */
    static PageOptions parse(String query) {
      int limit = number(query, "limit");
      return new PageOptions(
          Math.max(0, number(query, "offset")),
          limit == 0 ? USUAL_LIMIT : Math.clamp(limit, 0, MAX_LIMIT),
          value(query, VisibilityApi.ESTIMATES).equals("true"));
    }

    private static int number(String query, String name) {
      return number(value(query, name));
    }

    /** The decoded value of a parameter; empty if it is absent. */
    private static String value(String query, String name) {
      for (String part : query.split("&")) {
        int equals = part.indexOf('=');
        if (equals > 0 && decoded(part.substring(0, equals)).equals(name)) {
          return decoded(part.substring(equals + 1));
        }
      }
      return "";
    }

    private static int number(String text) {
      return Optional.of(text)
          .filter(digits -> digits.matches("-?[0-9]{1,30}"))
          .map(BigInteger::new)
          .map(value -> value.max(BigInteger.ONE.negate()).min(MOST))
          .map(BigInteger::intValue)
          .orElse(0);
    }

    private static String decoded(String text) {
      try {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
      } catch (IllegalArgumentException notEncoded) {
        return text;
      }
    }
  }
}
