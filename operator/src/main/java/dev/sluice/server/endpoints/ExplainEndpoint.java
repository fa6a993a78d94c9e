package dev.sluice.server.endpoints;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.Quantities;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.api.queueing.QuotaSchedule.CurrentFactor;
import dev.sluice.core.engine.SchedulerQueries;
import dev.sluice.core.engine.SchedulerQueries.BackfillReport;
import dev.sluice.core.engine.SchedulerQueries.Holder;
import dev.sluice.core.engine.SchedulerQueries.PendingReport;
import dev.sluice.core.model.Explanation;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.core.topology.TopologyView;
import dev.sluice.core.topology.TopologyView.Amounts;
import dev.sluice.core.topology.TopologyView.Leaf;
import dev.sluice.forecast.feed.RunTimeEstimator.WorkloadRunTime;
import dev.sluice.forecast.runtimes.RunTimeEstimate;
import dev.sluice.forecast.starts.StartEstimate;
import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.server.auth.AccessReviews;
import dev.sluice.server.auth.RequestBudget;
import dev.sluice.server.auth.RequestUsers;
import dev.sluice.server.auth.UserAction;
import dev.sluice.server.http.HttpHandler;
import dev.sluice.server.http.Request;
import dev.sluice.server.http.Response;
import dev.sluice.visibility.ExplanationText;
import dev.sluice.visibility.RunTimeText;
import dev.sluice.visibility.StartText;
import dev.sluice.visibility.api.VisibilityApi;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import io.fabric8.kubernetes.api.model.authentication.UserInfo;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * {@code GET /explain/v1/namespaces/NAMESPACE/workloads/NAME}: why a Workload is pending, according
 * to the scheduler. {@code GET /explain/v1/topologies/FLAVOR}: what the nodes of a flavor have, and
 * who uses them. Requires the permission to {@code get} the path {@code /explain/v1}, since the
 * answers name Workloads of other namespaces.
 *
 * <p>Below the visibility API, so that the API server passes it on: {@code
 * …/namespaces/NAMESPACE/workloads/NAME/explanation}, for who may get the Workload. The answer
 * names no Workload and no LocalQueue of a namespace whose Workloads the user may not get. With
 * {@code ?output=text} it is plain text.
 */
public final class ExplainEndpoint implements HttpHandler {

  /** The prefix of all paths, which is also the path of the required permission. */
  public static final String PREFIX = "/explain/v1";

  /** Of Workloads that are counted and not named. */
  static final String NOT_READ = " of namespaces that you may not read";

  /** In place of the name of a Workload. */
  static final String OTHER = "a Workload of another namespace";

  private static final Pattern PATH =
      Pattern.compile(Pattern.quote(PREFIX) + "/namespaces/([^/]+)/workloads/([^/]+)");
  private static final Pattern TENANT_PATH =
      Pattern.compile(
          "/apis/"
              + Pattern.quote(VisibilityApi.GROUP)
              + "/v[a-z0-9]+/namespaces/([^/]+)/workloads/([^/]+)/"
              + VisibilityApi.EXPLANATION);
  private static final Pattern TOPOLOGY_PATH =
      Pattern.compile(Pattern.quote(PREFIX) + "/topologies/([^/]+)");

  private static final Pattern WAITS_BEHIND = Pattern.compile("waits behind ([^/]+)/[^ ,]+(,.*)");

  /** Explanations for one user. */
  private static final int PER_SECOND = 5;

  private static final int BURST = 50;
  private static final Duration QUERY_TIMEOUT = Duration.ofSeconds(5);
  private static final UserAction READ = new UserAction.OnPath("get", PREFIX);

  private final RequestUsers users;
  private final AccessReviews access;
  private final WorkloadLister workloads;
  private final SchedulerQueries engine;
  private final Function<CachedWorkload, WorkloadRunTime> runTimes;
  private final Function<CachedWorkload, Optional<StartEstimate>> starts;
  private volatile Function<String, Optional<CurrentFactor>> quotas = queue -> Optional.empty();
  private final RequestBudget explanations =
      new RequestBudget("explanations", PER_SECOND, BURST, 0, InstantSource.system());

  /**
   * Creates the endpoint.
   *
   * @param users tells who asks
   * @param access decides who may get {@link #PREFIX}
   * @param runTimes says how long Workloads run
   * @param starts says when pending Workloads start; empty if nobody can tell in time
   */
  public ExplainEndpoint(
      RequestUsers users,
      AccessReviews access,
      WorkloadLister workloads,
      SchedulerQueries engine,
      Function<CachedWorkload, WorkloadRunTime> runTimes,
      Function<CachedWorkload, Optional<StartEstimate>> starts) {
    this.users = users;
    this.access = access;
    this.workloads = workloads;
    this.engine = engine;
    this.runTimes = runTimes;
    this.starts = starts;
  }

  /** Tells from now on which factor the quota of a ClusterQueue has, if that depends on time. */
  public void telling(Function<String, Optional<CurrentFactor>> quotaOf) {
    quotas = quotaOf;
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
  public Response answer(Request request) {
    Matcher path = PATH.matcher(request.path());
    Matcher topology = TOPOLOGY_PATH.matcher(request.path());
    Matcher tenant = TENANT_PATH.matcher(request.path());
    if (tenant.matches() && request.method().equals("GET")) {
      return forTenant(request, tenant.group(1), tenant.group(2));
    }
    if (!path.matches() && !topology.matches()) {
      return Response.text(
          404,
          "not found: use "
              + PREFIX
              + "/namespaces/NAMESPACE/workloads/NAME or "
              + PREFIX
              + "/topologies/FLAVOR");
    }
    if (!request.method().equals("GET")) {
      return Response.text(405, "method " + request.method() + " is not allowed, use GET");
    }
    try {
      Optional<UserInfo> user = users.of(request);
      if (user.isEmpty()) {
        return Response.text(401, unauthorized(request));
      }
      if (!access.isAllowed(user.get(), READ)) {
        return Response.text(403, "Forbidden: the verb get on " + PREFIX + " is needed");
      }
      explanations.take(user.get().getUsername());
      return topology.matches()
          ? topology(topology.group(1))
          : explain(path.group(1), path.group(2), namespace -> true, false);
    } catch (KubernetesClientException e) {
      return Response.text(503, "who may read this can't be found out: " + ApiErrorText.of(e));
    }
  }

  private Response forTenant(Request request, String namespace, String name) {
    try {
      Optional<UserInfo> user = users.of(request);
      if (user.isEmpty()) {
        return Response.text(401, unauthorized(request));
      }
      if (!access.isAllowed(user.get(), getWorkload(namespace, name))) {
        return Response.text(
            403,
            "Forbidden: the verb get on workloads in group kueue.x-k8s.io is needed in namespace "
                + namespace);
      }
      explanations.take(user.get().getUsername());
      return explain(
          namespace,
          name,
          other -> other.equals(namespace) || access.isAllowed(user.get(), getWorkload(other, "")),
          request.query().contains("output=text"));
    } catch (KubernetesClientException e) {
      return Response.text(503, "who may read this can't be found out: " + ApiErrorText.of(e));
    }
  }

  private static UserAction getWorkload(String namespace, String name) {
    return new UserAction.OnResource(
        "get", KueueConstants.GROUP, "v1beta2", "workloads", "", namespace, name);
  }

  private static String unauthorized(Request request) {
    if (request.header("authorization").isPresent()) {
      return "Unauthorized";
    }
    return request.certificates().isEmpty()
        ? "Unauthorized: a bearer token or a client certificate is needed"
        : "Unauthorized: the certificate is not one for clients of this cluster, or not valid now";
  }

  /**
   * Explains a Workload.
   *
   * @param visible whether the Workloads of a namespace may be named
   */
  private Response explain(
      String namespace, String name, Predicate<String> visible, boolean asText) {
    Optional<CachedWorkload> workload = workloads.get(namespace, name);
    if (workload.isEmpty()) {
      return Response.text(404, "Workload " + namespace + "/" + name + " does not exist");
    }
    try {
      WorkloadId id = workload.get().id();
      Optional<PendingReport> waiting =
          EngineAnswer.await(engine.pendingReason(id), QUERY_TIMEOUT, explanationOf(id));
      ObjectNode body = body(id, waiting.map(all -> shown(all, visible)));
      hidden(body, waiting, visible);
      waiting
          .flatMap(all -> quotas.apply(all.clusterQueue()))
          .ifPresent(current -> describe(body, current));
      if (!workload.get().finished()) {
        describe(body, runTimes.apply(workload.get()));
      }
      if (waiting.isPresent()) {
        starts.apply(workload.get()).ifPresent(estimate -> describe(body, estimate));
      }
      return asText
          ? Response.text(200, text(body, workload.get()))
          : Response.json(JsonMappers.JSON.writeValueAsBytes(body));
    } catch (EngineAnswer.MissingException e) {
      return Response.text(503, e.text());
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(explanationOf(workload.get().id()), e);
    }
  }

  /**
   * What of a report may be shown.
   *
   * @param visible whether the Workloads of a namespace may be named
   */
  static PendingReport shown(PendingReport all, Predicate<String> visible) {
    return new PendingReport(
        all.position(),
        all.clusterQueue(),
        all.explanation().map(explanation -> shown(explanation, visible)),
        all.holders().stream().filter(holder -> visible.test(holder.id().namespace())).toList(),
        all.earlierLocalQueues().filter(earlier -> visible.test(earlier.first().namespace())),
        all.backfill().map(backfill -> backfill.shown(visible)));
  }

  /** A Workload that others wait behind is named in the detail alone. */
  private static Explanation shown(Explanation explanation, Predicate<String> visible) {
    Matcher behind = WAITS_BEHIND.matcher(explanation.detail());
    return !behind.matches() || visible.test(behind.group(1))
        ? explanation
        : new Explanation(
            explanation.reason(),
            explanation.attempts(),
            "waits behind " + OTHER + behind.group(2),
            explanation.gated());
  }

  /** How many holders are not named. */
  static void hidden(ObjectNode body, Optional<PendingReport> waiting, Predicate<String> visible) {
    long others =
        waiting.stream()
            .flatMap(all -> all.holders().stream())
            .filter(holder -> !visible.test(holder.id().namespace()))
            .map(Holder::id)
            .distinct()
            .count();
    if (others > 0) {
      body.put("hiddenHolders", others);
      body.withArray("text")
          .add(
              others
                  + (others == 1 ? " Workload" : " Workloads")
                  + NOT_READ
                  + " "
                  + (others == 1 ? "holds" : "hold")
                  + " what is missing");
    }
  }

  /** The lines, for people. */
  private static String text(ObjectNode body, CachedWorkload workload) {
    StringBuilder text = new StringBuilder();
    if (!body.path("pending").asBoolean()) {
      text.append("not pending: ")
          .append(
              workload.finished() ? "finished" : workload.admitted() ? "admitted" : "not queued")
          .append('\n');
    }
    body.path("text").forEach(line -> text.append(line.asText()).append('\n'));
    return text.toString().stripTrailing();
  }

  private Response topology(String flavor) {
    String question = "topology of flavor " + flavor;
    try {
      Optional<TopologyView> view =
          EngineAnswer.await(engine.topology(flavor), QUERY_TIMEOUT, question);
      return view.isEmpty()
          ? Response.text(404, "ResourceFlavor " + flavor + " does not exist or has no topology")
          : Response.json(JsonMappers.JSON.writeValueAsBytes(body(view.get())));
    } catch (EngineAnswer.MissingException e) {
      return Response.text(503, e.text());
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(question, e);
    }
  }

  private static ObjectNode body(TopologyView view) {
    ObjectNode body = JsonMappers.JSON.createObjectNode();
    body.put("flavor", view.flavor()).put("topology", view.topology());
    view.levels().forEach(body.withArray("levels")::add);
    for (TopologyView.Leaf leaf : view.leaves()) {
      ObjectNode domain = body.withArray("domains").addObject().put("nodes", leaf.nodes());
      leaf.values().forEach(domain.withArray("values")::add);
      leaf.amounts()
          .forEach(
              (resource, amounts) ->
                  domain
                      .withObject("/resources")
                      .putObject(resource)
                      .put("allocatable", ExplanationText.quantity(resource, amounts.allocatable()))
                      .put("others", ExplanationText.quantity(resource, amounts.usedByOthers()))
                      .put(
                          "workloads",
                          ExplanationText.quantity(resource, amounts.usedByWorkloads())));
      for (TopologyView.HeldPods holder : leaf.holders()) {
        domain
            .withArray("holders")
            .addObject()
            .put("namespace", holder.id().namespace())
            .put("name", holder.id().name())
            .put("pods", holder.pods());
      }
    }
    TopologyTreeText.lines(view).forEach(body.withArray("text")::add);
    return body;
  }

  private static String explanationOf(WorkloadId id) {
    return "explanation of " + id.namespace() + "/" + id.name();
  }

  private ObjectNode body(WorkloadId id, Optional<PendingReport> waiting) {
    ObjectNode body = JsonMappers.JSON.createObjectNode();
    body.put("namespace", id.namespace()).put("name", id.name()).put("uid", id.uid());
    body.put("pending", waiting.isPresent());
    waiting.ifPresent(known -> describe(body, known));
    return body;
  }

  private static void describe(ObjectNode body, CurrentFactor current) {
    ObjectNode quota = body.putObject("quota").put("factor", current.factor());
    current.until().ifPresent(until -> quota.put("until", until.toString()));
    body.withArray("text")
        .add(
            "the quota of ClusterQueue %s is %s"
                .formatted(body.path("clusterQueue").asText(), current.text()));
  }

  private static void describe(ObjectNode body, BackfillReport backfill) {
    backfill
        .own()
        .ifPresent(
            own -> {
              body.put("plannedStart", own.at().toString())
                  .put("promised", own.promised().toString());
              own.lateBy().forEach(cause -> body.withArray("lateBy").add(cause.text()));
            });
    backfill
        .first()
        .ifPresent(
            first ->
                body.putObject("behind")
                    .put("namespace", first.id().namespace())
                    .put("name", first.id().name())
                    .put("plannedStart", first.at().toString()));
    backfill
        .startsBeforeUntil()
        .ifPresent(until -> body.put("startsBeforeUntil", until.toString()));
  }

  static void describe(ObjectNode body, PendingReport waiting) {
    body.put("clusterQueue", waiting.clusterQueue())
        .put("localQueue", waiting.position().queueName())
        .put("priority", waiting.position().priority())
        .put("positionInClusterQueue", waiting.position().inClusterQueue())
        .put("positionInLocalQueue", waiting.position().inLocalQueue())
        .put("inadmissible", waiting.position().inadmissible());
    waiting
        .explanation()
        .ifPresent(
            explanation ->
                body.put("reason", explanation.reason().apiReason())
                    .put("message", ExplanationText.message(explanation)));
    waiting
        .earlierLocalQueues()
        .ifPresent(
            earlier ->
                body.putObject("turn")
                    .put("used", earlier.used())
                    .put("first", earlier.first().namespace() + "/" + earlier.first().name())
                    .put("usedByFirst", earlier.usedByFirst())
                    .put("others", earlier.others()));
    waiting.backfill().ifPresent(backfill -> describe(body.putObject("backfill"), backfill));
    for (Holder holder : waiting.holders()) {
      body.withArray("holders")
          .addObject()
          .put("namespace", holder.id().namespace())
          .put("name", holder.id().name())
          .put("clusterQueue", holder.clusterQueue())
          .put("flavor", holder.pair().flavor())
          .put("resource", holder.pair().resource())
          .put("amount", ExplanationText.quantity(holder.pair().resource(), holder.amount()));
    }
    ExplanationText.lines(waiting).forEach(body.withArray("text")::add);
  }

  static void describe(ObjectNode body, StartEstimate estimate) {
    ObjectNode node = body.putObject("expectedStart").put("basis", estimate.basis().apiName());
    estimate
        .range()
        .ifPresent(
            range -> {
              node.put("earliest", range.earliest().toString())
                  .put("expected", range.expected().toString());
              range.latest().ifPresent(latest -> node.put("latest", latest.toString()));
            });
    node.put("computedAt", estimate.computedAt().toString());
    estimate.assumptions().forEach(node.putArray("assumptions")::add);
    body.withArray("text").add(StartText.line(estimate));
  }

  private static void describe(ObjectNode body, WorkloadRunTime runTime) {
    RunTimeEstimate estimate = runTime.estimate();
    ObjectNode node = body.putObject("runTime").put("basis", estimate.basis().text());
    RunTimeText.shown(estimate)
        .ifPresent(
            shown ->
                node.put("earliestSeconds", shown.quantile(0.1).toSeconds())
                    .put("expectedSeconds", shown.quantile(0.5).toSeconds())
                    .put("latestSeconds", shown.quantile(0.9).toSeconds()));
    estimate
        .learned()
        .ifPresent(
            learned -> {
              node.put("group", learned.level().text());
              if (RunTimeText.isOfOneNamespace(learned)) {
                node.put("runs", learned.count()).put("failedShare", learned.failedShare());
              }
            });
    runTime.queueWithDefault().ifPresent(queue -> node.put("defaultOf", queue));
    estimate.limit().ifPresent(limit -> node.put("limitSeconds", limit.toSeconds()));
    runTime.age().ifPresent(age -> node.put("ageSeconds", age.toSeconds()));
    body.withArray("text").add(RunTimeText.line(runTime));
  }

  /**
   * Renders the domains of a flavor as a tree of text: what each has, what is free, who holds it,
   * and how scattered the free capacity is (docs/topology.md#what-is-free-and-who-holds-it).
   */
  static final class TopologyTreeText {

    /** Workloads that are named in one line; of the others only the number is told. */
    private static final int MOST_HOLDERS = 10;

    private final TopologyView view;
    private final List<String> lines = new ArrayList<>();

    /** The largest free amount of one domain, by resource and level. */
    private final SortedMap<String, long[]> largest = new TreeMap<>();

    private TopologyTreeText(TopologyView view) {
      this.view = view;
    }

    /** The lines: the flavor, a line for each domain, and a line for each resource. */
    public static List<String> lines(TopologyView view) {
      TopologyTreeText text = new TopologyTreeText(view);
      int nodes = view.leaves().stream().mapToInt(Leaf::nodes).sum();
      text.lines.add(
          "flavor %s: %d %s in topology %s (%s)"
              .formatted(
                  view.flavor(),
                  nodes,
                  nodes == 1 ? "node" : "nodes",
                  view.topology(),
                  String.join(" > ", view.levels())));
      text.add(view.leaves(), 0);
      text.scattered();
      return text.lines;
    }

    private void add(List<Leaf> leaves, int level) {
      Map<String, List<Leaf>> domains = new LinkedHashMap<>();
      for (Leaf leaf : leaves) {
        domains.computeIfAbsent(leaf.values().get(level), value -> new ArrayList<>()).add(leaf);
      }
      domains.forEach(
          (value, below) -> {
            SortedMap<String, Amounts> sums = TopologyView.sum(below);
            sums.forEach(
                (resource, amounts) -> {
                  long[] most =
                      largest.computeIfAbsent(resource, key -> new long[view.levels().size()]);
                  most[level] = Math.max(most[level], amounts.free());
                });
            boolean last = level == view.levels().size() - 1;
            lines.add(
                "  ".repeat(level + 1)
                    + value
                    + ": "
                    + sums.entrySet().stream()
                        .map(each -> amounts(each.getKey(), each.getValue(), last))
                        .collect(Collectors.joining(", "))
                    + (last ? holders(below.getFirst()) : ""));
            if (!last) {
              add(below, level + 1);
            }
          });
    }

    private static String amounts(String resource, Amounts amounts, boolean ofLeaf) {
      List<String> texts =
          Quantities.inOneUnit(
              resource, amounts.free(), amounts.allocatable(), amounts.usedByOthers());
      String text = "%s %s of %s free".formatted(resource, texts.get(0), texts.get(1));
      return ofLeaf && amounts.usedByOthers() > 0
          ? text + " (%s used by other pods)".formatted(texts.get(2))
          : text;
    }

    private static String holders(Leaf leaf) {
      if (leaf.holders().isEmpty()) {
        return "";
      }
      String named =
          leaf.holders().stream()
              .limit(MOST_HOLDERS)
              .map(
                  holder ->
                      "%s/%s (%d %s)"
                          .formatted(
                              holder.id().namespace(),
                              holder.id().name(),
                              holder.pods(),
                              holder.pods() == 1 ? "pod" : "pods"))
              .collect(Collectors.joining(", "));
      int others = leaf.holders().size() - MOST_HOLDERS;
      return "; held by " + named + (others > 0 ? " and %d others".formatted(others) : "");
    }

    /** How much of what is free is in one domain, at most. */
    private void scattered() {
      SortedMap<String, Amounts> all = TopologyView.sum(view.leaves());
      largest.forEach(
          (resource, most) -> {
            long free = all.containsKey(resource) ? all.get(resource).free() : 0;
            List<String> texts =
                Quantities.inOneUnit(
                    resource,
                    LongStream.concat(LongStream.of(free), LongStream.of(most)).toArray());
            List<String> parts = new ArrayList<>();
            for (int level = 0; level < most.length && free > 0; level++) {
              parts.add(
                  "%s in one %s (%d %%)"
                      .formatted(
                          texts.get(level + 1),
                          view.levels().get(level),
                          Math.round(100.0 * most[level] / free)));
            }
            lines.add(
                "%s: %s free in all".formatted(resource, texts.getFirst())
                    + (parts.isEmpty() ? "" : ", at most " + String.join(", ", parts)));
          });
    }
  }
}
