package dev.sluice.accounting;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.Futures;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Reads pods anew, so that nobody is stopped for what a late watch tells. */
public final class FreshPods {

  private final ApiClient client;
  private final PodRecordParser parser;

  /** Over the connections of this client. */
  public FreshPods(ApiClient client, PodRecordParser parser) {
    this.client = client;
    this.parser = parser;
  }

  /**
   * Those of some pods of a namespace that have not ended, as they are now.
   *
   * @throws IllegalStateException if the API server doesn't answer, or refuses
   */
  public List<PodRecord> of(String namespace, List<PodRecord> known) throws InterruptedException {
    ApiOutcome outcome =
        Futures.forResult(client.send(ApiRequest.get("/api/v1/namespaces/" + namespace + "/pods")));
    if (!(outcome instanceof ApiOutcome.Written listed)) {
      throw new IllegalStateException("pods of namespace " + namespace + " not read: " + outcome);
    }
    Map<UUID, PodRecord> now = new HashMap<>();
    for (JsonNode pod : listed.object().path("items")) {
      if (!PodRecordParser.ended(pod)) {
        PodRecord version = parser.of(pod);
        now.put(version.uid(), version);
      }
    }
    return known.stream()
        .filter(pod -> now.containsKey(pod.uid()))
        .map(pod -> now.getOrDefault(pod.uid(), pod).after(pod))
        .filter(PodRecord::runs)
        .toList();
  }
}
