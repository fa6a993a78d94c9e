package dev.sluice.api.config;

import dev.sluice.api.config.Configuration.AdmissionFairSharing;
import dev.sluice.api.config.Configuration.FairSharing;
import dev.sluice.api.config.Configuration.Integrations;
import dev.sluice.api.config.Configuration.PreemptionStrategy;
import dev.sluice.api.config.Configuration.WaitForPodsReady;
import dev.sluice.api.config.MultiKueue.AccessProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** Reads the blocks that switch capabilities on. */
final class CapabilityDecoder {

  private static final List<String> FRAMEWORKS =
      List.of(
          "batch/job",
          "kubeflow.org/mpijob",
          "kubeflow.org/paddlejob",
          "kubeflow.org/pytorchjob",
          "kubeflow.org/tfjob",
          "kubeflow.org/xgboostjob",
          "kubeflow.org/jaxjob",
          "ray.io/rayjob",
          "ray.io/raycluster",
          "ray.io/rayservice",
          "jobset.x-k8s.io/jobset",
          "trainer.kubeflow.org/trainjob",
          "workload.codeflare.dev/appwrapper",
          "sparkoperator.k8s.io/sparkapplication",
          "pod",
          "deployment",
          "statefulset",
          "leaderworkerset.x-k8s.io/leaderworkerset");

  private static final List<PreemptionStrategy> BOTH_STRATEGIES =
      List.of(
          PreemptionStrategy.LESS_THAN_OR_EQUAL_TO_FINAL_SHARE,
          PreemptionStrategy.LESS_THAN_INITIAL_SHARE);

  private static final Map<List<String>, List<PreemptionStrategy>> STRATEGIES =
      Map.of(
          List.of("LessThanOrEqualToFinalShare"),
          BOTH_STRATEGIES.subList(0, 1),
          List.of("LessThanInitialShare"),
          BOTH_STRATEGIES.subList(1, 2),
          List.of("LessThanOrEqualToFinalShare", "LessThanInitialShare"),
          BOTH_STRATEGIES);

  private static final Duration NANOSECOND = Duration.ofNanos(1);

  private final ConfigurationVersion configurationVersion;
  private final ValidationErrors validationErrors;
  private final FeatureGates gates;

  CapabilityDecoder(
      ConfigurationVersion configurationVersion,
      ValidationErrors validationErrors,
      FeatureGates gates) {
    this.configurationVersion = configurationVersion;
    this.validationErrors = validationErrors;
    this.gates = gates;
  }

  /**
   * When readiness is watched. In v1beta2 it is unless a gate forbids it; in v1beta1 only if the
   * block says so.
   */
  Optional<WaitForPodsReady> waitForPodsReady(ObjectFieldReader file) {
    boolean old = configurationVersion == ConfigurationVersion.V1BETA1;
    ObjectFieldReader objectFieldReader = file.object("waitForPodsReady");
    boolean enabled =
        old
            ? objectFieldReader.flag("enable", false)
            : !gates.enabled(FeatureGate.DISABLE_WAIT_FOR_PODS_READY);
    if (!old) {
      objectFieldReader.onlyIn(ConfigurationVersion.V1BETA1.apiVersion(), "enable");
    }
    Duration timeout =
        objectFieldReader.duration(
            "timeout", old ? Duration.ofMinutes(5) : Duration.ofMinutes(30), NANOSECOND);
    boolean block = objectFieldReader.flag("blockAdmission", old);
    Duration recovery = objectFieldReader.duration("recoveryTimeout", timeout, Duration.ZERO);
    ObjectFieldReader requeuing = objectFieldReader.object("requeuingStrategy");
    boolean byEviction =
        requeuing.word("timestamp", Map.of("Eviction", true, "Creation", false)).orElse(true);
    Optional<Integer> limit =
        requeuing.whole("backoffLimitCount", 0, Integer.MAX_VALUE).map(Long::intValue);
    int base = requeuing.whole("backoffBaseSeconds", 60, 0, Integer.MAX_VALUE);
    int max = requeuing.whole("backoffMaxSeconds", 3600, 0, Integer.MAX_VALUE);
    requeuing.nothingElse();
    objectFieldReader.nothingElse();
    WaitForPodsReady result =
        new WaitForPodsReady(
            timeout,
            block,
            recovery,
            byEviction,
            limit,
            Duration.ofSeconds(base),
            Duration.ofSeconds(max));
    return enabled ? Optional.of(result) : Optional.empty();
  }

  Integrations integrations(ObjectFieldReader objectFieldReader) {
    List<String> given = objectFieldReader.texts("frameworks");
    List<String> frameworks = objectFieldReader.has("frameworks") ? given : List.of("batch/job");
    checkAll(
        objectFieldReader,
        "frameworks",
        frameworks,
        FRAMEWORKS::contains,
        String.join(", ", FRAMEWORKS));
    if (frameworks.contains("sparkoperator.k8s.io/sparkapplication")
        && !gates.enabled(FeatureGate.SPARK_APPLICATION_INTEGRATION)) {
      validationErrors.add(
          objectFieldReader.path("frameworks"),
          "sparkoperator.k8s.io/sparkapplication needs the feature gate"
              + " SparkApplicationIntegration, which is off");
    }
    List<String> external = objectFieldReader.texts("externalFrameworks");
    checkAll(
        objectFieldReader,
        "externalFrameworks",
        external,
        KubernetesNames::isGroupVersionKind,
        KubernetesNames.GVK_RULE);
    List<String> labels = objectFieldReader.texts("labelKeysToCopy");
    checkAll(
        objectFieldReader,
        "labelKeysToCopy",
        labels,
        KubernetesNames::isLabelKey,
        KubernetesNames.LABEL_KEY_RULE);
    if (configurationVersion == ConfigurationVersion.V1BETA1) {
      objectFieldReader.accept("podOptions");
    }
    objectFieldReader.nothingElse();
    return new Integrations(frameworks, external, labels);
  }

  MultiKueue multiKueue(ObjectFieldReader objectFieldReader) {
    MultiKueue otherwise = MultiKueue.DEFAULT;
    Duration gc = objectFieldReader.duration("gcInterval", otherwise.gcInterval(), Duration.ZERO);
    String origin = objectFieldReader.text("origin", otherwise.origin());
    validationErrors.check(
        KubernetesNames.isLabelValue(origin),
        objectFieldReader.path("origin"),
        origin,
        KubernetesNames.LABEL_VALUE_RULE);
    Duration lost =
        objectFieldReader.duration(
            "workerLostTimeout", otherwise.workerLostTimeout(), Duration.ZERO);
    String dispatcher = objectFieldReader.text("dispatcherName", otherwise.dispatcherName());
    validationErrors.check(
        KubernetesNames.isLabelKey(dispatcher),
        objectFieldReader.path("dispatcherName"),
        dispatcher,
        String.join(
            ", ",
            MultiKueue.ALL_AT_ONCE,
            MultiKueue.INCREMENTAL,
            MultiKueue.BEST_FIT,
            "or another's domain/name"));
    List<String> external = new ArrayList<>();
    for (ObjectFieldReader each : objectFieldReader.objects("externalFrameworks")) {
      external.add(each.required("name", KubernetesNames.GVK_RULE));
      each.nothingElse();
    }
    checkAll(
        objectFieldReader,
        "externalFrameworks",
        external,
        KubernetesNames::isGroupVersionKind,
        KubernetesNames.GVK_RULE);
    refuseBuiltIn(objectFieldReader, external);
    Optional<Integer> step = Optional.empty();
    List<AccessProvider> providers = List.of();
    if (configurationVersion == ConfigurationVersion.V1BETA1) {
      objectFieldReader.onlyIn(
          ConfigurationVersion.V1BETA2.apiVersion(),
          "clusterProfile",
          "incrementalDispatcherConfig");
    } else {
      step = stepSize(objectFieldReader, dispatcher);
      providers = accessProviders(objectFieldReader.object("clusterProfile"));
    }
    objectFieldReader.nothingElse();
    return new MultiKueue(gc, origin, lost, dispatcher, step, external, providers);
  }

  private void refuseBuiltIn(ObjectFieldReader multiKueue, List<String> external) {
    for (int i = 0; i < external.size(); i++) {
      String kind = external.get(i).replaceFirst("\\.[^.]*", "");
      if (MultiKueue.BUILT_IN.contains(kind)) {
        validationErrors.add(
            multiKueue.path("externalFrameworks") + "[" + i + "].name",
            "\"" + external.get(i) + "\" is built in; allowed: kinds other than those built in");
      }
    }
  }

  private Optional<Integer> stepSize(ObjectFieldReader multiKueue, String dispatcher) {
    ObjectFieldReader objectFieldReader = multiKueue.object("incrementalDispatcherConfig");
    int step = objectFieldReader.whole("stepSize", 3, 1, Integer.MAX_VALUE);
    objectFieldReader.nothingElse();
    if (!multiKueue.has("incrementalDispatcherConfig")) {
      return Optional.empty();
    }
    if (!gates.enabled(FeatureGate.MULTI_KUEUE_INCREMENTAL_DISPATCHER_CONFIG)) {
      validationErrors.add(
          multiKueue.path("incrementalDispatcherConfig"),
          "needs the feature gate MultiKueueIncrementalDispatcherConfig, which is off");
    }
    if (!dispatcher.equals(MultiKueue.INCREMENTAL)) {
      validationErrors.add(
          multiKueue.path("incrementalDispatcherConfig"),
          "only goes with dispatcherName " + MultiKueue.INCREMENTAL + "; it is " + dispatcher);
    }
    return Optional.of(step);
  }

  private List<AccessProvider> accessProviders(ObjectFieldReader profile) {
    List<AccessProvider> result = new ArrayList<>();
    profile.objects("accessProviders").forEach(each -> result.add(accessProvider(each)));
    profile.objects("credentialsProviders").forEach(each -> result.add(accessProvider(each)));
    if (profile.has("accessProviders") && profile.has("credentialsProviders")) {
      validationErrors.add(
          profile.path("credentialsProviders"),
          "is the old name of accessProviders and can't be combined with it; give one");
    }
    Set<String> seen = new HashSet<>();
    for (AccessProvider provider : result) {
      if (!seen.add(provider.name())) {
        validationErrors.add(
            profile.path("accessProviders"), "\"" + provider.name() + "\" is given twice");
      }
    }
    profile.nothingElse();
    return List.copyOf(result);
  }

  private AccessProvider accessProvider(ObjectFieldReader objectFieldReader) {
    String name = objectFieldReader.required("name", "a name");
    ObjectFieldReader exec = objectFieldReader.object("execConfig");
    String modes = "Never, IfAvailable, Always";
    Map<String, String> env = new LinkedHashMap<>();
    for (ObjectFieldReader each : exec.objects("env")) {
      env.put(each.required("name", "the name of a variable"), each.text("value", ""));
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
    validationErrors.check(
        List.of("", "Never", "IfAvailable", "Always").contains(provider.interactiveMode()),
        exec.path("interactiveMode"),
        provider.interactiveMode(),
        modes);
    exec.accept("installHint");
    exec.nothingElse();
    objectFieldReader.nothingElse();
    return provider;
  }

  Optional<FairSharing> fairSharing(ObjectFieldReader file) {
    boolean present = file.has("fairSharing");
    ObjectFieldReader objectFieldReader = file.object("fairSharing");
    boolean enabled = present;
    if (configurationVersion == ConfigurationVersion.V1BETA1) {
      enabled = objectFieldReader.flag("enable", false);
    } else {
      objectFieldReader.onlyIn(ConfigurationVersion.V1BETA1.apiVersion(), "enable");
    }
    List<String> names = objectFieldReader.texts("preemptionStrategies");
    List<PreemptionStrategy> strategies = STRATEGIES.getOrDefault(names, BOTH_STRATEGIES);
    boolean mayBeEmpty = configurationVersion == ConfigurationVersion.V1BETA1 || !present;
    validationErrors.check(
        STRATEGIES.containsKey(names) || (names.isEmpty() && mayBeEmpty),
        objectFieldReader.path("preemptionStrategies"),
        names,
        "[LessThanOrEqualToFinalShare], [LessThanInitialShare] or"
            + " [LessThanOrEqualToFinalShare, LessThanInitialShare]");
    objectFieldReader.nothingElse();
    return enabled ? Optional.of(new FairSharing(strategies)) : Optional.empty();
  }

  Optional<AdmissionFairSharing> admissionFairSharing(ObjectFieldReader file) {
    ObjectFieldReader objectFieldReader = file.object("admissionFairSharing");
    Map<String, Double> weights =
        objectFieldReader.map(
            "resourceWeights",
            (node, at) -> {
              boolean good = node.isNumber() && node.doubleValue() >= 0;
              validationErrors.check(good, at, node, "a number of at least 0");
              return good ? Optional.of(node.doubleValue()) : Optional.empty();
            });
    AdmissionFairSharing result =
        new AdmissionFairSharing(
            objectFieldReader.duration("usageHalfLifeTime", Duration.ZERO, Duration.ZERO),
            objectFieldReader.duration("usageSamplingInterval", Duration.ofMinutes(5), NANOSECOND),
            weights);
    objectFieldReader.nothingElse();
    return file.has("admissionFairSharing") ? Optional.of(result) : Optional.empty();
  }

  /** Fields that old files have and that never change anything. */
  void acceptAndDrop(ObjectFieldReader file) {
    if (configurationVersion == ConfigurationVersion.V1BETA1) {
      file.accept("queueVisibility");
    }
  }

  private void checkAll(
      ObjectFieldReader objectFieldReader,
      String name,
      List<String> values,
      Predicate<String> good,
      String allowed) {
    Set<String> seen = new HashSet<>();
    for (int i = 0; i < values.size(); i++) {
      String path = objectFieldReader.path(name) + "[" + i + "]";
      validationErrors.check(good.test(values.get(i)), path, values.get(i), allowed);
      if (!seen.add(values.get(i))) {
        validationErrors.add(path, "\"" + values.get(i) + "\" is given twice");
      }
    }
  }
}
