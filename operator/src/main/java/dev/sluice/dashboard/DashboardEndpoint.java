package dev.sluice.dashboard;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.core.engine.ClusterQueueView;
import dev.sluice.core.engine.LocalQueueView;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerQueries.PendingReport;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.PlannedStart;
import dev.sluice.dashboard.ChangeFeed.Audience;
import dev.sluice.dashboard.DashboardSources.WorkerCluster;
import dev.sluice.dashboard.Viewer.Kind;
import dev.sluice.dashboard.WorkloadDocument.StartsDocument;
import dev.sluice.forecast.starts.StartEstimate;
import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.server.auth.AccessReviews;
import dev.sluice.server.auth.BearerToken;
import dev.sluice.server.auth.RequestUsers;
import dev.sluice.server.endpoints.EngineAnswer;
import dev.sluice.server.http.HttpHandler;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.Response;
import dev.sluice.workload.record.CachedWorkload;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The dashboard's pages and the documents that they show (docs/dashboard.md). Everything is read
 * only; each document is made for the user who asks, from what is in memory.
 */
public final class DashboardEndpoint implements HttpHandler {

  private static final String API = "/api/v1/";
  private static final String CLUSTER = API + "cluster/";
  private static final String EVENTS = API + "events";
  private static final Pattern WORKLOAD = Pattern.compile(API + "workloads/([^/]+)/([^/]+)");
  private static final Pattern PENDING =
      Pattern.compile(API + "pending/(?:clusterqueues/([^/]+)|localqueues/([^/]+)/([^/]+))");
  private static final Pattern TOPOLOGY = Pattern.compile(API + "topologies/([^/]+)((?:/[^/]+)*)");
  private static final Pattern POLICIES = Pattern.compile(API + "policies/clusterqueues/([^/]+)");
  private static final Pattern CLUSTER_WORKLOAD =
      Pattern.compile(API + "cluster/workloads/([^/]+)/([^/]+)");
  private static final Pattern CLUSTER_NODES =
      Pattern.compile(API + "cluster/flavors/([^/]+)/nodes");
  private static final Pattern HISTORY = Pattern.compile(API + "history/clusterqueues/([^/]+)");
  private static final Pattern STARTS = Pattern.compile(API + "starts/clusterqueues/([^/]+)");

  /** The most pending Workloads among which those of a time line are looked for. */
  private static final int PLANNED = 500;

  /** A page waits for expected starts for so long, and then is shown without them. */
  private static final Duration STARTS_TIMEOUT = Duration.ofMillis(500);

  private static final Duration QUERY_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration STREAM_TIME = Duration.ofSeconds(55);

  private static final String NO_CLUSTER_QUEUES = "you may not list ClusterQueues";
  private static final String NO_FLAVORS = "you may not list ResourceFlavors";
  private static final String NO_TOPOLOGIES = "you may not list Topologies";

  /** The most streams of one user at a time. */
  private static final int MAX_STREAMS = 8;

  /** Sent with each response: a page runs this program's scripts only, in no frame. */
  private static final Map<String, String> HEADERS =
      Map.of(
          "Content-Security-Policy",
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src"
              + " 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
          "X-Content-Type-Options",
          "nosniff",
          "Referrer-Policy",
          "no-referrer",
          "Cross-Origin-Resource-Policy",
          "same-origin",
          "Cross-Origin-Opener-Policy",
          "same-origin",
          "Cache-Control",
          "no-store");

  private final Viewers viewers;
  private final DashboardSources sources;
  private final ChangeFeed feed;
  private final PastUse pastUse;
  private final ClusterDocument cluster;
  private final PlansDocument plans;
  private final WebFiles files = new WebFiles();
  private final OverviewDocument overview;
  private final WorkloadRows rows;
  private final WorkloadDocument workload;
  private final TopologyDocument topology;
  private final SettingsDocument settings;
  private final Map<String, Integer> streams = new ConcurrentHashMap<>();

  /**
   * Creates the endpoint.
   *
   * @param users tells who asks
   * @param access decides what he may see
   * @param sources what is shown
   * @param feed tells when it has changed
   * @param pastUse what queues used before
   * @param reads reads what is at a path of the API server, with the token of a user
   */
  public DashboardEndpoint(
      RequestUsers users,
      AccessReviews access,
      DashboardSources sources,
      ChangeFeed feed,
      PastUse pastUse,
      BiFunction<String, String, CompletableFuture<ApiOutcome>> reads) {
    this.viewers = new Viewers(users, access, sources.clock());
    this.sources = sources;
    this.feed = feed;
    this.pastUse = pastUse;
    this.cluster = new ClusterDocument(reads, sources.clock());
    this.plans = new PlansDocument(reads, sources);
    this.overview = new OverviewDocument(sources);
    this.rows = new WorkloadRows(sources);
    this.workload = new WorkloadDocument(rows);
    this.settings = new SettingsDocument(sources);
    this.topology = new TopologyDocument(sources, rows, feed);
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
  public boolean isStreamed(String path) {
    return path.equals(EVENTS);
  }

  @Override
  public Optional<Duration> streamTime(String path) {
    return isStreamed(path) ? Optional.of(STREAM_TIME) : Optional.empty();
  }

  @Override
  public Response answer(Request request) {
    Response response = route(request);
    Map<String, String> headers = new HashMap<>(HEADERS);
    headers.putAll(response.headers());
    return response.with(headers);
  }

  private Response route(Request request) {
    boolean reads = request.method().equals("GET") || request.method().equals("HEAD");
    if (!reads) {
      return failure(405, "method " + request.method() + " is not allowed, use GET");
    }
    if (!request.path().startsWith(API)) {
      return files.answer(request).orElseGet(() -> failure(404, "not found"));
    }
    try {
      Optional<Viewer> viewer = viewers.of(request);
      return viewer.isPresent()
          ? document(request, viewer.get())
          : failure(401, "Unauthorized: a valid bearer token or client certificate is needed");
    } catch (KubernetesClientException e) {
      return failure(503, "who may see this can't be found out: " + ApiErrorText.of(e));
    } catch (EngineAnswer.MissingException e) {
      return failure(503, e.text());
    }
  }

  private Response document(Request request, Viewer viewer) throws EngineAnswer.MissingException {
    Matcher one = WORKLOAD.matcher(request.path());
    if (one.matches()) {
      return workload(viewer, one.group(1), one.group(2));
    }
    Matcher pending = PENDING.matcher(request.path());
    if (pending.matches()) {
      return pending(request, viewer, pending);
    }
    Matcher starts = STARTS.matcher(request.path());
    if (starts.matches()) {
      return starts(viewer, starts.group(1));
    }
    if (request.path().startsWith(CLUSTER)) {
      return cluster(request, viewer);
    }
    Matcher past = HISTORY.matcher(request.path());
    if (past.matches()) {
      return viewer.sees(Kind.CLUSTER_QUEUES)
          ? json(pastUse.of(past.group(1)))
          : failure(403, NO_CLUSTER_QUEUES);
    }
    Matcher policies = POLICIES.matcher(request.path());
    if (policies.matches()) {
      return policies(viewer, policies.group(1));
    }
    Matcher domain = TOPOLOGY.matcher(request.path());
    if (domain.matches()) {
      return topology(viewer, domain.group(1), domain.group(2));
    }
    return switch (request.path().substring(API.length())) {
      case "session" -> json(session(viewer).put("ownToken", BearerToken.of(request).isPresent()));
      case "overview" -> json(overview.of(viewer));
      case "workloads" ->
          json(rows.list(WorkloadFilter.parse(request.query()), viewer.namespaces(Kind.WORKLOADS)));
      case "workerclusters" -> workerClusters(viewer);
      case "topologies" ->
          viewer.sees(Kind.TOPOLOGIES) ? json(topology.flavors()) : failure(403, NO_TOPOLOGIES);
      case "flavors" ->
          viewer.sees(Kind.RESOURCE_FLAVORS)
              ? json(settings.flavors(viewer.sees(Kind.CLUSTER_QUEUES)))
              : failure(403, NO_FLAVORS);
      case "events" -> events(request, viewer);
      default -> failure(404, "not found");
    };
  }

  private ObjectNode session(Viewer viewer) {
    ObjectNode session = JsonMappers.JSON.createObjectNode().put("user", viewer.name());
    ObjectNode sees = session.putObject("sees");
    sees.put("clusterQueues", viewer.sees(Kind.CLUSTER_QUEUES))
        .put("cohorts", viewer.sees(Kind.COHORTS))
        .put("allLocalQueues", viewer.sees(Kind.LOCAL_QUEUES))
        .put("allWorkloads", viewer.sees(Kind.WORKLOADS))
        .put("topologies", viewer.sees(Kind.TOPOLOGIES))
        .put("flavors", viewer.sees(Kind.RESOURCE_FLAVORS))
        .put("budgets", viewer.sees(Kind.BUDGETS))
        .put("calendar", viewer.sees(Kind.RESERVATIONS))
        .put("workerClusters", viewer.sees(Kind.WORKER_CLUSTERS));
    return session
        .put("deciding", sources.deciding().getAsBoolean())
        .put("now", sources.clock().instant().toString());
  }

  private Response workload(Viewer viewer, String namespace, String name)
      throws EngineAnswer.MissingException {
    if (!viewer.sees(Kind.WORKLOADS, namespace)) {
      return failure(403, "you may not list Workloads in namespace " + namespace);
    }
    Optional<CachedWorkload> found = sources.workloads().get(namespace, name);
    if (found.isEmpty()) {
      return failure(404, "Workload " + namespace + "/" + name + " does not exist");
    }
    Optional<PendingReport> waiting =
        EngineAnswer.await(
            sources.engine().pendingReason(found.get().id()),
            QUERY_TIMEOUT,
            "why a Workload waits");
    Optional<StartEstimate> start =
        waiting.map(
            report ->
                sources
                    .expected()
                    .starts(report.clusterQueue(), STARTS_TIMEOUT)
                    .get(found.get().id()));
    return json(workload.of(found.get(), waiting, start, viewer.namespaces(Kind.WORKLOADS)));
  }

  /** What is read with the token of the user, whose rights the API server looks at. */
  private Response cluster(Request request, Viewer viewer) {
    Optional<String> token = BearerToken.of(request);
    if (token.isEmpty()) {
      return failure(
          403, "this is read with your own token, and you are logged in without one: use kubectl");
    }
    Optional<ObjectNode> planned =
        switch (request.path().substring(CLUSTER.length())) {
          case "budgets" ->
              Optional.of(plans.budgets(token.get(), viewer.namespaces(Kind.WORKLOADS)));
          case "calendar" ->
              Optional.of(plans.calendar(token.get(), viewer.sees(Kind.CLUSTER_QUEUES)));
          case "usage" ->
              Optional.of(
                  plans.usage(
                      token.get(), WorkloadFilter.values(request.query()).getOrDefault("by", "")));
          default -> Optional.empty();
        };
    if (planned.isPresent()) {
      return json(planned.get());
    }
    Matcher one = CLUSTER_WORKLOAD.matcher(request.path());
    if (one.matches()) {
      if (!viewer.sees(Kind.WORKLOADS, one.group(1))) {
        return failure(403, "you may not list Workloads in namespace " + one.group(1));
      }
      return sources
          .workloads()
          .get(one.group(1), one.group(2))
          .map(found -> json(cluster.ofWorkload(found, token.get())))
          .orElseGet(() -> failure(404, "the Workload does not exist"));
    }
    Matcher nodes = CLUSTER_NODES.matcher(request.path());
    if (!nodes.matches()) {
      return failure(404, "not found");
    }
    return viewer.sees(Kind.RESOURCE_FLAVORS)
        ? settings
            .nodeLabels(nodes.group(1))
            .map(labels -> json(cluster.ofNodes(labels, token.get())))
            .orElseGet(() -> failure(404, "the flavor does not exist"))
        : failure(403, NO_FLAVORS);
  }

  private Response starts(Viewer viewer, String clusterQueue) throws EngineAnswer.MissingException {
    if (!viewer.sees(Kind.CLUSTER_QUEUES)) {
      return failure(403, NO_CLUSTER_QUEUES);
    }
    Optional<List<PendingPosition>> positions =
        EngineAnswer.await(
            sources.engine().pendingInClusterQueue(clusterQueue, 0, PLANNED),
            QUERY_TIMEOUT,
            "the pending Workloads of a queue");
    List<PlannedStart> planned =
        EngineAnswer.await(
            sources.engine().plannedStarts(clusterQueue), QUERY_TIMEOUT, "what is planned");
    return positions
        .map(
            found ->
                json(
                    new StartsDocument(rows)
                        .of(
                            found,
                            found.isEmpty()
                                ? Map.of()
                                : sources.expected().starts(clusterQueue, STARTS_TIMEOUT),
                            planned,
                            viewer.namespaces(Kind.WORKLOADS),
                            sources.clock().instant())))
        .orElseGet(() -> failure(404, "the queue does not exist"));
  }

  private Response policies(Viewer viewer, String clusterQueue) {
    return viewer.sees(Kind.CLUSTER_QUEUES)
        ? settings
            .policies(clusterQueue)
            .map(DashboardEndpoint::json)
            .orElseGet(() -> failure(404, "the queue does not exist"))
        : failure(403, NO_CLUSTER_QUEUES);
  }

  private Response pending(Request request, Viewer viewer, Matcher path)
      throws EngineAnswer.MissingException {
    WorkloadFilter page = WorkloadFilter.parse(request.query());
    CompletableFuture<Optional<List<PendingPosition>>> asked;
    int total;
    String clusterQueue;
    if (path.group(1) != null) {
      String name = path.group(1);
      if (!viewer.sees(Kind.CLUSTER_QUEUES)) {
        return failure(403, NO_CLUSTER_QUEUES);
      }
      total = sources.views().clusterQueue(name).map(DashboardEndpoint::pending).orElse(0);
      clusterQueue = name;
      asked = sources.engine().pendingInClusterQueue(name, page.offset(), page.limit());
    } else {
      LocalQueueId id = new LocalQueueId(path.group(2), path.group(3));
      if (!viewer.sees(Kind.LOCAL_QUEUES, id.namespace())) {
        return failure(403, "you may not list LocalQueues in namespace " + id.namespace());
      }
      total = sources.views().localQueue(id).map(DashboardEndpoint::pending).orElse(0);
      clusterQueue = sources.views().localQueue(id).map(LocalQueueView::clusterQueue).orElse("");
      asked = sources.engine().pendingInLocalQueue(id, page.offset(), page.limit());
    }
    Optional<List<PendingPosition>> positions =
        EngineAnswer.await(asked, QUERY_TIMEOUT, "the pending Workloads of a queue");
    return positions.isPresent()
        ? json(
            rows.pending(
                positions.get(),
                page.offset(),
                Math.max(total, positions.get().size()),
                viewer.namespaces(Kind.WORKLOADS),
                sources
                    .expected()
                    .starts(
                        clusterQueue, positions.get().isEmpty() ? Duration.ZERO : STARTS_TIMEOUT)))
        : failure(404, "the queue does not exist");
  }

  private static int pending(ClusterQueueView queue) {
    return queue.pendingActive() + queue.pendingInadmissible();
  }

  private static int pending(LocalQueueView queue) {
    return queue.pendingActive() + queue.pendingInadmissible();
  }

  private Response workerClusters(Viewer viewer) {
    if (!viewer.sees(Kind.WORKER_CLUSTERS)) {
      return failure(403, "you may not list MultiKueueClusters");
    }
    ObjectNode document = JsonMappers.JSON.createObjectNode();
    var items = document.putArray("items");
    sources.workerClusters().get().stream()
        .sorted(Comparator.comparing(WorkerCluster::name))
        .forEach(
            cluster ->
                items
                    .addObject()
                    .put("name", cluster.name())
                    .put("connected", cluster.connected())
                    .put("reason", cluster.reason())
                    .put("message", cluster.message()));
    return json(document);
  }

  private Response topology(Viewer viewer, String flavor, String path)
      throws EngineAnswer.MissingException {
    if (!viewer.sees(Kind.TOPOLOGIES)) {
      return failure(403, NO_TOPOLOGIES);
    }
    List<String> domain = path.isEmpty() ? List.of() : List.of(path.substring(1).split("/"));
    return topology
        .of(flavor, domain, viewer.namespaces(Kind.WORKLOADS))
        .map(DashboardEndpoint::json)
        .orElseGet(() -> failure(404, "the flavor does not exist or has no topology"));
  }

  private Response events(Request request, Viewer viewer) {
    Audience audience =
        new Audience(
            viewer.sees(Kind.CLUSTER_QUEUES),
            viewer.namespaces(Kind.LOCAL_QUEUES),
            viewer.namespaces(Kind.WORKLOADS));
    String since = WorkloadFilter.values(request.query()).getOrDefault("since", "");
    return new Response(
        200,
        "text/event-stream",
        new EventStream(
            feed,
            audience,
            since.matches("[0-9]{1,18}") ? Long.parseLong(since) : 0,
            System::nanoTime,
            () -> opens(viewer),
            () -> ended(viewer)));
  }

  private boolean opens(Viewer viewer) {
    boolean opens = streams.merge(viewer.name(), 1, Integer::sum) <= MAX_STREAMS;
    if (!opens) {
      ended(viewer);
    }
    return opens;
  }

  private void ended(Viewer viewer) {
    streams.computeIfPresent(viewer.name(), (name, open) -> open <= 1 ? null : open - 1);
  }

  private static Response json(ObjectNode body) {
    return json(200, body);
  }

  private static Response failure(int status, String message) {
    return json(status, JsonMappers.JSON.createObjectNode().put("error", message));
  }

  private static Response json(int status, ObjectNode body) {
    try {
      return new Response(status, "application/json", JsonMappers.JSON.writeValueAsBytes(body));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree can be written", e);
    }
  }

  /** Who looks at the dashboard. The users that were seen last are kept, with their rights. */
  private static final class Viewers {

    private static final int MAX_USERS = 128;

    private final RequestUsers users;
    private final AccessReviews access;
    private final InstantSource clock;
    private final Map<String, Viewer> known =
        new LinkedHashMap<>(16, 0.75f, true) {
          private static final long serialVersionUID = 1L;

          @Override
          protected boolean removeEldestEntry(Map.Entry<String, Viewer> eldest) {
            return size() > MAX_USERS;
          }
        };

    Viewers(RequestUsers users, AccessReviews access, InstantSource clock) {
      this.users = users;
      this.access = access;
      this.clock = clock;
    }

    /**
     * The user who sends a request; empty if nothing shows who it is.
     *
     * @throws KubernetesClientException when the cluster can't be asked
     */
    Optional<Viewer> of(Request request) {
      return users.of(request).map(this::viewer);
    }

    private synchronized Viewer viewer(UserInfo user) {
      return known.computeIfAbsent(key(user), any -> new Viewer(user, access, clock));
    }

    /** Two users with the same key have the same rights. */
    private static String key(UserInfo user) {
      ObjectNode key = JsonMappers.JSON.createObjectNode();
      key.put("user", user.getUsername()).put("uid", user.getUid());
      user.getGroups().forEach(key.withArray("groups")::add);
      key.set("extra", JsonMappers.JSON.valueToTree(user.getExtra()));
      return key.toString();
    }
  }

  /**
   * The files of the front end. They are read from the program once, by a list of their names, so
   * no path of a request ever reaches a file system. They hold no data of a cluster, and everybody
   * may load them.
   */
  private static final class WebFiles {

    private static final String FOLDER = "web/";

    /** The page itself. */
    private static final String INDEX = "index.html";

    private static final List<String> NAMES =
        List.of(
            INDEX,
            "style.css",
            "icon.svg",
            "app.js",
            "api.js",
            "dom.js",
            "format.js",
            "parts.js",
            "rows.js",
            "overview.js",
            "queues.js",
            "starts.js",
            "history.js",
            "cluster.js",
            "workloads.js",
            "workload.js",
            "topology.js",
            "flavors.js",
            "budgets.js",
            "usage.js",
            "calendar.js",
            "clusters.js");

    private static final Map<String, String> TYPES =
        Map.of(
            "html", "text/html; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "svg", "image/svg+xml");

    private record WebFile(byte[] content, String type, String tag) {}

    private final Map<String, WebFile> files = new HashMap<>();

    /** The files of this program. */
    WebFiles() {
      for (String name : NAMES) {
        byte[] content = content(name);
        String type = TYPES.getOrDefault(name.substring(name.lastIndexOf('.') + 1), "text/plain");
        files.put("/" + name, new WebFile(content, type, tag(content)));
      }
      files.put("/", file("/" + INDEX).orElseThrow());
    }

    private static byte[] content(String name) {
      try (InputStream in = WebFiles.class.getResourceAsStream(FOLDER + name)) {
        if (in == null) {
          throw new IllegalStateException("the program lacks " + name);
        }
        return in.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private static String tag(byte[] content) {
      try {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(content);
        return "\"" + HexFormat.of().formatHex(digest, 0, 12) + "\"";
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("every platform has SHA-256", e);
      }
    }

    private Optional<WebFile> file(String path) {
      return Optional.ofNullable(files.get(path));
    }

    /** The file of a path; empty if there is none. */
    Optional<Response> answer(Request request) {
      return file(request.path())
          .map(
              file -> {
                boolean known = request.headerValues("if-none-match").contains(file.tag());
                return new Response(
                        known ? 304 : 200, file.type(), known ? new byte[0] : file.content())
                    .with(Map.of("ETag", file.tag(), "Cache-Control", "no-cache"));
              });
    }
  }
}
