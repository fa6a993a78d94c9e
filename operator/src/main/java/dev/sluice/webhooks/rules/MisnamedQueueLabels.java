package dev.sluice.webhooks.rules;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonFields;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/** Finds labels that look as if they were to name a queue, and don't. */
public final class MisnamedQueueLabels {

  /** Keys without a prefix that look like the label. */
  public static final List<String> WITHOUT_PREFIX =
      List.of("queue-name", "queue_name", "queuename");

  private static final String PREFIX = KueueConstants.GROUP + "/";
  private static final Set<String> LOOKS = Set.of("queuename", "queue", "localqueue");

  private MisnamedQueueLabels() {}

  /** A warning for each such label of an object that names no queue. */
  public static List<String> warnings(JsonNode object) {
    Set<String> labels = new TreeSet<>(JsonFields.labels(object).keySet());
    if (labels.contains(KueueConstants.QUEUE_NAME)
        || JsonFields.annotations(object).containsKey(KueueConstants.QUEUE_NAME)) {
      return List.of();
    }
    return labels.stream()
        .filter(MisnamedQueueLabels::looksLikeQueueName)
        .map(
            label ->
                "label %s names no queue, the job is not queued: the label is %s"
                    .formatted(label, KueueConstants.QUEUE_NAME))
        .toList();
  }

  private static boolean looksLikeQueueName(String label) {
    return WITHOUT_PREFIX.contains(label)
        || (label.startsWith(PREFIX)
            && LOOKS.contains(
                label.substring(PREFIX.length()).toLowerCase(Locale.ROOT).replaceAll("[-_.]", "")));
  }
}
