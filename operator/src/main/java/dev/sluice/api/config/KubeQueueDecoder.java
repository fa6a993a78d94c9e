package dev.sluice.api.config;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.sluice.api.KubernetesNames;
import dev.sluice.api.config.KubeQueue.ForeignUnits;
import dev.sluice.api.config.KubeQueue.Intake;
import dev.sluice.api.config.KubeQueue.Jobs;
import dev.sluice.api.config.KubeQueue.OwnUnits;
import dev.sluice.api.config.KubeQueue.Policy;
import dev.sluice.api.config.KubeQueue.QuotaLabel;
import dev.sluice.api.config.KubeQueue.Source;
import dev.sluice.api.config.KubeQueue.Starts;
import dev.sluice.api.config.KubeQueue.Units;
import dev.sluice.core.model.QueueRules.AttemptBackoff;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads the block {@code kubeQueue}. */
final class KubeQueueDecoder {

  private static final List<String> SOURCE_NAMES =
      List.of("ElasticQuotaTree", "ElasticQuota", "ResourceQuota", "PlainResourceQuota");

  private static final List<String> DEFAULT_SOURCES = SOURCE_NAMES.subList(0, 3);

  private static final Map<String, Source> SOURCES =
      Map.of(
          SOURCE_NAMES.get(0), Source.ELASTIC_QUOTA_TREE,
          SOURCE_NAMES.get(1), Source.ELASTIC_QUOTA,
          SOURCE_NAMES.get(2), Source.RESOURCE_QUOTA,
          SOURCE_NAMES.get(3), Source.PLAIN_RESOURCE_QUOTA);

  private static final Map<String, Policy> POLICIES =
      Map.of(
          "Round", Policy.ROUND,
          "Block", Policy.BLOCK,
          "StrictPriority", Policy.STRICT_PRIORITY);

  private static final double MOST = 1000;
  private static final Duration MILLISECOND = Duration.ofMillis(1);

  /** The shortest time that annotations of queues take for starts. */
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final ConfigurationVersion version;
  private final ValidationErrors errors;

  KubeQueueDecoder(ConfigurationVersion version, ValidationErrors errors) {
    this.version = version;
    this.errors = errors;
  }

  /** The block of the file; where it is absent, queues are not made from quotas. */
  KubeQueue decode(ObjectFieldReader file) {
    if (version == ConfigurationVersion.V1BETA1) {
      file.onlyIn(ConfigurationVersion.V1BETA2.apiVersion(), "kubeQueue");
    }
    ObjectFieldReader fields = file.object("kubeQueue");
    boolean enabled = fields.flag("enabled", false);
    Set<Source> sources = sources(fields);
    String namespace = fields.text("namespace", "kube-queue");
    fields.check(
        "namespace",
        KubernetesNames.isDnsLabel(namespace),
        namespace,
        KubernetesNames.DNS_LABEL_RULE);
    double rate = fields.number("oversellRate", 2);
    fields.check("oversellRate", rate >= 1 && rate <= MOST, rate, "a number from 1 to 1000");
    Policy policy = fields.word("policy", POLICIES, "Round");
    Starts starts =
        new Starts(
            startTimeout(fields),
            fields.duration("startBackoff", Duration.ofMinutes(1), SECOND),
            attemptBackoff(fields.object("attemptBackoff")));
    Intake intake =
        fields.word(
            "intake",
            Map.of("SuspendedOnly", Intake.SUSPENDED_ONLY, "All", Intake.ALL),
            "SuspendedOnly");
    Units units =
        new Units(
            fields.word(
                "queueUnits", Map.of("Mirror", OwnUnits.MIRROR, "Off", OwnUnits.OFF), "Mirror"),
            fields.word(
                "foreignUnits",
                Map.of("Accept", ForeignUnits.ACCEPT, "Ignore", ForeignUnits.IGNORE),
                "Accept"));
    QuotaLabel label =
        fields.word(
            "quotaLabel",
            Map.of("Listed", QuotaLabel.LISTED, "Anywhere", QuotaLabel.ANYWHERE),
            "Listed");
    Jobs jobs = new Jobs(intake, label);
    return fields.done(
        new KubeQueue(enabled, sources, namespace, rate, policy, starts, jobs, units));
  }

  private static Duration startTimeout(ObjectFieldReader fields) {
    Duration timeout = fields.duration("startTimeout", Duration.ZERO, Duration.ZERO);
    fields.check(
        "startTimeout",
        timeout.isZero() || timeout.compareTo(SECOND) >= 0,
        GoDuration.format(timeout),
        "0s, or at least 1s");
    return timeout;
  }

  private Set<Source> sources(ObjectFieldReader fields) {
    ArrayNode all = JsonNodeFactory.instance.arrayNode();
    DEFAULT_SOURCES.forEach(all::add);
    fields.defaultTo("sources", all);
    List<String> names = fields.texts("sources");
    Set<Source> result = EnumSet.noneOf(Source.class);
    for (int i = 0; i < names.size(); i++) {
      String path = fields.path("sources") + "[" + i + "]";
      Source source = SOURCES.get(names.get(i));
      if (source == null) {
        errors.value(path, names.get(i), String.join(", ", SOURCE_NAMES));
      } else if (!result.add(source)) {
        errors.add(path, "\"" + names.get(i) + "\" is given twice");
      }
    }
    return result;
  }

  private AttemptBackoff attemptBackoff(ObjectFieldReader fields) {
    Duration initial = fields.duration("initial", Duration.ofSeconds(1), MILLISECOND);
    Duration max = fields.duration("max", Duration.ofSeconds(20), MILLISECOND);
    fields.check(
        "max",
        max.compareTo(initial) >= 0,
        GoDuration.format(max),
        "at least initial, which is " + GoDuration.format(initial));
    return fields.done(new AttemptBackoff(initial, max));
  }
}
