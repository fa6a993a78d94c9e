package dev.sluice.api.config;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.config.Configuration.Integrations;
import dev.sluice.api.config.Configuration.WaitForPodsReady;
import dev.sluice.api.config.ConfigurationLoader.ConfigurationVersion;
import dev.sluice.api.config.MultiKueue.AccessProvider;
import dev.sluice.core.model.AdmissionFairSharing;
import dev.sluice.core.model.AdmissionFairSharing.Anchor;
import dev.sluice.core.model.FairSharing;
import dev.sluice.core.model.FairSharing.Strategy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** Reads the blocks that switch capabilities on. */
final class CapabilityDecoder {

  private static final String MAX_TIMEOUT = "maxTimeoutOnWorkload";
  private static final String UNSCHEDULED_TIMEOUT = "unscheduledTimeout";

  private static final List<Strategy> BOTH_STRATEGIES =
      List.of(Strategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE, Strategy.LESS_THAN_INITIAL_SHARE);

  private static final List<String> STRATEGY_NAMES =
      List.of("LessThanOrEqualToFinalShare", "LessThanInitialShare");

  private static final Map<List<String>, List<Strategy>> STRATEGIES =
      Map.of(
          STRATEGY_NAMES.subList(0, 1),
          BOTH_STRATEGIES.subList(0, 1),
          STRATEGY_NAMES.subList(1, 2),
          BOTH_STRATEGIES.subList(1, 2),
          STRATEGY_NAMES,
          BOTH_STRATEGIES);

  private static final Duration NANOSECOND = Duration.ofNanos(1);

  private final ConfigurationVersion version;
  private final ValidationErrors errors;
  private final FeatureGates gates;

  CapabilityDecoder(ConfigurationVersion version, ValidationErrors errors, FeatureGates gates) {
    this.version = version;
    this.errors = errors;
    this.gates = gates;
  }

  /**
   * When readiness is watched. In v1beta2 it is, in v1beta1 only if the block says so; in neither
   * if the gate forbids it.
   */
  Optional<WaitForPodsReady> waitForPodsReady(ObjectFieldReader file) {
    boolean old = version == ConfigurationVersion.V1BETA1;
    ObjectFieldReader fields = file.object("waitForPodsReady");
    boolean asked = !old || fields.flag("enable", false);
    boolean enabled = asked && !gates.enabled(FeatureGate.DISABLE_WAIT_FOR_PODS_READY);
    if (!old) {
      fields.onlyIn(ConfigurationVersion.V1BETA1.apiVersion(), "enable");
    }
    fields.unsettle("enable");
    Duration timeout =
        fields.duration(
            "timeout", old ? Duration.ofMinutes(5) : Duration.ofMinutes(30), NANOSECOND);
    boolean block = fields.flag("blockAdmission", old);
    Duration recovery = fields.duration("recoveryTimeout", timeout, Duration.ZERO);
    boolean byWorkload = gates.enabled(FeatureGate.WORKLOAD_LEVEL_WAIT_FOR_PODS_READY);
    Optional<Duration> most = fields.duration(MAX_TIMEOUT);
    if (most.filter(it -> it.compareTo(NANOSECOND) < 0).isPresent()) {
      fields.refuse(MAX_TIMEOUT, "must be more than 0s");
    } else if (most.isPresent() && !byWorkload) {
      fields.refuse(
          MAX_TIMEOUT, "needs the feature gate WorkloadLevelWaitForPodsReady, which is off");
    }
    Optional<Duration> unscheduled = unscheduledTimeout(fields);
    // one Workload that gives itself years would keep all others from being admitted
    Optional<Duration> longest = most.or(() -> Optional.of(timeout).filter(any -> block));
    ObjectFieldReader requeuing = fields.object("requeuingStrategy");
    boolean byEviction =
        requeuing.word("timestamp", Map.of("Eviction", true, "Creation", false), "Eviction");
    Optional<Integer> limit =
        requeuing.whole("backoffLimitCount", 0, Integer.MAX_VALUE).map(Long::intValue);
    int base = requeuing.whole("backoffBaseSeconds", 60, 0, Integer.MAX_VALUE);
    int max = requeuing.whole("backoffMaxSeconds", 3600, 0, Integer.MAX_VALUE);
    requeuing.nothingElse();
    fields.nothingElse();
    WaitForPodsReady result =
        new WaitForPodsReady(
            timeout,
            block,
            recovery,
            unscheduled,
            new WaitForPodsReady.Requeuing(
                byEviction, limit, Duration.ofSeconds(base), Duration.ofSeconds(max)),
            byWorkload
                ? Optional.of(new WaitForPodsReady.WorkloadLevel(longest))
                : Optional.empty());
    return enabled ? Optional.of(result) : Optional.empty();
  }

  private Optional<Duration> unscheduledTimeout(ObjectFieldReader fields) {
    Optional<Duration> unscheduled = fields.duration(UNSCHEDULED_TIMEOUT);
    if (unscheduled.filter(it -> it.compareTo(NANOSECOND) < 0).isPresent()) {
      fields.refuse(UNSCHEDULED_TIMEOUT, "must be more than 0s");
    } else if (unscheduled.isPresent()
        && !gates.enabled(FeatureGate.WAIT_FOR_PODS_READY_UNSCHEDULED_TIMEOUT)) {
      fields.refuse(
          UNSCHEDULED_TIMEOUT,
          "needs the feature gate WaitForPodsReadyUnscheduledTimeout, which is off");
    }
    return unscheduled;
  }

  Integrations integrations(ObjectFieldReader fields) {
    fields.defaultTo(
        "frameworks", JsonNodeFactory.instance.arrayNode().add(JobFrameworks.BATCH_JOB));
    List<String> frameworks = fields.texts("frameworks");
    List<String> known = JobFrameworks.known();
    checkAll(fields, "frameworks", frameworks, known::contains, String.join(", ", known));
    if (frameworks.contains(JobFrameworks.SPARK)
        && !gates.enabled(FeatureGate.SPARK_APPLICATION_INTEGRATION)) {
      fields.refuse(
          "frameworks",
          JobFrameworks.SPARK
              + " needs the feature gate SparkApplicationIntegration, which is off");
    }
    List<String> external = fields.texts("externalFrameworks");
    checkAll(
        fields,
        "externalFrameworks",
        external,
        KubernetesNames::isGroupVersionKind,
        KubernetesNames.GVK_RULE);
    refuseManaged(fields, frameworks, external);
    List<String> labels = fields.texts("labelKeysToCopy");
    checkAll(
        fields,
        "labelKeysToCopy",
        labels,
        KubernetesNames::isLabelKey,
        KubernetesNames.LABEL_KEY_RULE);
    if (version == ConfigurationVersion.V1BETA1) {
      fields.accept("podOptions");
    }
    return fields.done(new Integrations(frameworks, external, labels, List.of()));
  }

  /** A kind has one controller that queues its jobs. */
  private void refuseManaged(
      ObjectFieldReader fields, List<String> frameworks, List<String> external) {
    for (int i = 0; i < external.size(); i++) {
      String[] parts = external.get(i).toLowerCase(Locale.ROOT).split("\\.", 3);
      if (parts.length == 3
          && (frameworks.contains(parts[2] + "/" + parts[0])
              || parts[2].equals("apps") && frameworks.contains(parts[0]))) {
        errors.add(
            fields.path("externalFrameworks") + "[" + i + "]",
            "\"" + external.get(i) + "\" is also listed in integrations.frameworks");
      }
    }
  }

  MultiKueue multiKueue(ObjectFieldReader fields) {
    MultiKueue otherwise = MultiKueue.DEFAULT;
    Duration gc = fields.duration("gcInterval", otherwise.gcInterval(), Duration.ZERO);
    String origin = fields.text("origin", otherwise.origin());
    fields.check(
        "origin", KubernetesNames.isLabelValue(origin), origin, KubernetesNames.LABEL_VALUE_RULE);
    Duration lost =
        fields.duration("workerLostTimeout", otherwise.workerLostTimeout(), Duration.ZERO);
    String dispatcher = fields.text("dispatcherName", otherwise.dispatcherName());
    fields.check(
        "dispatcherName",
        KubernetesNames.isLabelKey(dispatcher),
        dispatcher,
        String.join(
            ", ",
            MultiKueue.ALL_AT_ONCE,
            MultiKueue.INCREMENTAL,
            MultiKueue.BEST_FIT,
            "or another's domain/name"));
    List<String> external = new ArrayList<>();
    for (ObjectFieldReader each : fields.objects("externalFrameworks")) {
      external.add(each.required("name", KubernetesNames.GVK_RULE));
      each.nothingElse();
    }
    checkAll(
        fields,
        "externalFrameworks",
        external,
        KubernetesNames::isGroupVersionKind,
        KubernetesNames.GVK_RULE);
    refuseBuiltIn(fields, external);
    if (version == ConfigurationVersion.V1BETA1) {
      fields.onlyIn(
          ConfigurationVersion.V1BETA2.apiVersion(),
          "clusterProfile",
          "incrementalDispatcherConfig");
    }
    Optional<Integer> step = stepSize(fields, dispatcher);
    List<AccessProvider> providers = accessProviders(fields.object("clusterProfile"));
    return fields.done(new MultiKueue(gc, origin, lost, dispatcher, step, external, providers));
  }

  private void refuseBuiltIn(ObjectFieldReader multiKueue, List<String> external) {
    for (int i = 0; i < external.size(); i++) {
      String kind = external.get(i).replaceFirst("\\.[^.]*", "");
      if (MultiKueue.BUILT_IN.contains(kind)) {
        errors.add(
            multiKueue.path("externalFrameworks") + "[" + i + "].name",
            "\"" + external.get(i) + "\" is built in; allowed: kinds other than those built in");
      }
    }
  }

  private Optional<Integer> stepSize(ObjectFieldReader multiKueue, String dispatcher) {
    ObjectFieldReader fields = multiKueue.object("incrementalDispatcherConfig");
    int step = fields.whole("stepSize", 3, 1, Integer.MAX_VALUE);
    fields.nothingElse();
    if (!multiKueue.has("incrementalDispatcherConfig")) {
      multiKueue.unsettle("incrementalDispatcherConfig");
      return Optional.empty();
    }
    if (!gates.enabled(FeatureGate.MULTI_KUEUE_INCREMENTAL_DISPATCHER_CONFIG)) {
      multiKueue.refuse(
          "incrementalDispatcherConfig",
          "needs the feature gate MultiKueueIncrementalDispatcherConfig, which is off");
    }
    if (!dispatcher.equals(MultiKueue.INCREMENTAL)) {
      multiKueue.refuse(
          "incrementalDispatcherConfig",
          "only goes with dispatcherName " + MultiKueue.INCREMENTAL + "; it is " + dispatcher);
    }
    return Optional.of(step);
  }

  private List<AccessProvider> accessProviders(ObjectFieldReader profile) {
    List<AccessProvider> result = new ArrayList<>();
    profile.objects("accessProviders").forEach(each -> result.add(accessProvider(each)));
    profile.objects("credentialsProviders").forEach(each -> result.add(accessProvider(each)));
    if (profile.has("accessProviders") && profile.has("credentialsProviders")) {
      profile.refuse(
          "credentialsProviders",
          "is the old name of accessProviders and can't be combined with it; give one");
    }
    Set<String> seen = new HashSet<>();
    for (AccessProvider provider : result) {
      if (!seen.add(provider.name())) {
        profile.refuse("accessProviders", "\"" + provider.name() + "\" is given twice");
      }
    }
    return profile.done(List.copyOf(result));
  }

  private AccessProvider accessProvider(ObjectFieldReader fields) {
    String name = fields.required("name", "a name");
    ObjectFieldReader exec = fields.object("execConfig");
    String modes = "Never, IfAvailable, Always";
    Map<String, String> env = new LinkedHashMap<>();
    for (ObjectFieldReader each : exec.objects("env")) {
      env.put(each.required("name", "the name of a variable"), each.text("value", ""));
      each.unsettle("value");
      each.nothingElse();
    }
    AccessProvider provider =
        new AccessProvider(
            name,
            exec.required("command", "the command to run"),
            exec.required("apiVersion", "the version of the exec credential API"),
            exec.required("interactiveMode", modes),
            exec.texts("args"),
            env,
            exec.flag("provideClusterInfo", true));
    exec.check(
        "interactiveMode",
        List.of("", "Never", "IfAvailable", "Always").contains(provider.interactiveMode()),
        provider.interactiveMode(),
        modes);
    exec.accept("installHint");
    exec.nothingElse();
    return fields.done(provider);
  }

  Optional<FairSharing> fairSharing(ObjectFieldReader file) {
    boolean present = file.has("fairSharing");
    ObjectFieldReader fields = file.object("fairSharing");
    boolean enabled = present;
    if (version == ConfigurationVersion.V1BETA1) {
      enabled = fields.flag("enable", false);
    } else {
      fields.onlyIn(ConfigurationVersion.V1BETA1.apiVersion(), "enable");
    }
    List<String> names = fields.texts("preemptionStrategies");
    List<Strategy> strategies = STRATEGIES.getOrDefault(names, BOTH_STRATEGIES);
    boolean mayBeEmpty = version == ConfigurationVersion.V1BETA1 || !present;
    fields.check(
        "preemptionStrategies",
        STRATEGIES.containsKey(names) || (names.isEmpty() && mayBeEmpty),
        names,
        "[LessThanOrEqualToFinalShare], [LessThanInitialShare] or"
            + " [LessThanOrEqualToFinalShare, LessThanInitialShare]");
    fields.unsettle("enable");
    if (!enabled) {
      file.unsettle("fairSharing");
    } else if (names.isEmpty()) {
      STRATEGY_NAMES.forEach(fields.settled().putArray("preemptionStrategies")::add);
    }
    FairSharing sharing =
        new FairSharing(
            strategies,
            gates.enabled(FeatureGate.FAIR_SHARING_PREEMPT_WITHIN_NOMINAL),
            gates.enabled(FeatureGate.FAIR_SHARING_PRIORITIZE_NON_BORROWING),
            gates.enabled(FeatureGate.FAIR_SHARING_REFILL));
    return fields.done(enabled ? Optional.of(sharing) : Optional.empty());
  }

  Optional<AdmissionFairSharing> admissionFairSharing(ObjectFieldReader file) {
    ObjectFieldReader fields = file.object("admissionFairSharing");
    Map<String, Double> weights =
        fields.map(
            "resourceWeights",
            (node, at) -> {
              boolean good =
                  node.isNumber() && node.doubleValue() >= 0 && Double.isFinite(node.doubleValue());
              errors.check(good, at, node, "a number of at least 0");
              return good ? Optional.of(node.doubleValue()) : Optional.empty();
            });
    AdmissionFairSharing result =
        new AdmissionFairSharing(
            fields.duration("usageHalfLifeTime", Duration.ZERO, Duration.ZERO),
            fields.duration("usageSamplingInterval", Duration.ofMinutes(5), NANOSECOND),
            weights,
            gates.enabled(FeatureGate.ADMISSION_FAIR_SHARING_ANCHOR_AT_QUOTA_RESERVATION)
                ? Anchor.QUOTA_RESERVATION
                : Anchor.ADMISSION);
    if (!file.has("admissionFairSharing")) {
      file.unsettle("admissionFairSharing");
      return Optional.empty();
    }
    return fields.done(Optional.of(result));
  }

  /** Fields that old files have and that never change anything. */
  void acceptAndDrop(ObjectFieldReader file) {
    if (version == ConfigurationVersion.V1BETA1) {
      file.accept("queueVisibility");
    }
  }

  private void checkAll(
      ObjectFieldReader fields,
      String name,
      List<String> values,
      Predicate<String> good,
      String allowed) {
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < values.size(); i++) {
      String path = fields.path(name) + "[" + i + "]";
      errors.check(good.test(values.get(i)), path, values.get(i), allowed);
      if (!seen.add(values.get(i))) {
        errors.add(path, "\"" + values.get(i) + "\" is given twice");
      }
    }
  }
}
