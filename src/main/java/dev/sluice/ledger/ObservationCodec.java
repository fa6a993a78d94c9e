package dev.sluice.ledger;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.ledger.AttemptObservation.Amount;
import dev.sluice.ledger.AttemptObservation.Ending;
import dev.sluice.ledger.AttemptObservation.Holder;
import dev.sluice.ledger.AttemptObservation.Outcome;
import dev.sluice.ledger.AttemptObservation.Reservation;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/** Observations as lines of JSON. */
final class ObservationCodec {

  private static final Pattern PACE = Pattern.compile("[0-9]{1,10}(\\.[0-9]{1,10})?");

  private ObservationCodec() {}

  /** The line of an observation, with its line feed. */
  static byte[] encode(AttemptObservation observation) throws IOException {
    ObjectNode line = JsonNodeFactory.instance.objectNode();
    line.put("workload", observation.workload())
        .put("version", observation.version())
        .put("observedAt", observation.observedAt().toEpochMilli());
    observation.reservation().ifPresent(it -> reservation(line.putObject("reservation"), it));
    observation
        .ending()
        .ifPresent(
            end ->
                line.putObject("ending")
                    .put("at", end.at().toEpochMilli())
                    .put("outcome", end.outcome().text())
                    .put("reason", end.reason()));
    byte[] json = JsonMappers.JSON.writeValueAsBytes(line);
    byte[] encoded = new byte[json.length + 1];
    System.arraycopy(json, 0, encoded, 0, json.length);
    encoded[json.length] = '\n';
    return encoded;
  }

  private static void reservation(ObjectNode node, Reservation reservation) {
    Holder holder = reservation.holder();
    node.put("namespace", holder.namespace())
        .put("workload", holder.workload())
        .put("localQueue", holder.localQueue())
        .put("clusterQueue", holder.clusterQueue())
        .put("cohortPath", holder.cohortPath())
        .put("ownerKind", holder.ownerKind())
        .put("ownerName", holder.ownerName());
    ObjectNode labels = node.putObject("labels");
    holder.labels().forEach(labels::put);
    node.put("reservedAt", reservation.reservedAt().toEpochMilli())
        .put("wasReady", reservation.wasReady());
    reservation.readyAt().ifPresent(at -> node.put("readyAt", at.toEpochMilli()));
    reservation.checkpointedAt().ifPresent(at -> node.put("checkpointedAt", at.toEpochMilli()));
    ArrayNode amounts = node.putArray("amounts");
    for (Amount amount : reservation.amounts()) {
      ObjectNode item =
          amounts
              .addObject()
              .put("flavor", amount.flavor())
              .put("resource", amount.resource())
              .put("amount", amount.amount());
      amount
          .baseline()
          .ifPresent(
              it -> item.put("baseline", it.flavor()).put("pace", it.pace().toPlainString()));
    }
  }

  /** The observation of a line; empty if it is none, such as one that was torn by a crash. */
  static Optional<AttemptObservation> decode(byte[] bytes, int offset, int length) {
    JsonNode line;
    try {
      line = JsonMappers.JSON.readTree(bytes, offset, length);
    } catch (IOException torn) {
      return Optional.empty();
    }
    if (!line.path("workload").isTextual() || !line.path("version").isIntegralNumber()) {
      return Optional.empty();
    }
    return Optional.of(
        new AttemptObservation(
            line.path("workload").asText(),
            line.path("version").asLong(),
            time(line.path("observedAt")),
            Optional.of(line.path("reservation"))
                .filter(JsonNode::isObject)
                .map(ObservationCodec::reservation),
            Optional.of(line.path("ending"))
                .filter(JsonNode::isObject)
                .map(
                    end ->
                        new Ending(
                            time(end.path("at")),
                            Outcome.of(end.path("outcome").asText()),
                            end.path("reason").asText()))));
  }

  private static Reservation reservation(JsonNode node) {
    Map<String, String> labels = new HashMap<>();
    node.path("labels")
        .properties()
        .forEach(label -> labels.put(label.getKey(), label.getValue().asText()));
    List<Amount> amounts = new ArrayList<>();
    for (JsonNode amount : node.path("amounts")) {
      amounts.add(
          new Amount(
              amount.path("flavor").asText(),
              amount.path("resource").asText(),
              amount.path("amount").asLong(),
              baseline(amount)));
    }
    return new Reservation(
        new Holder(
            node.path("namespace").asText(),
            node.path("workload").asText(),
            node.path("localQueue").asText(),
            node.path("clusterQueue").asText(),
            node.path("cohortPath").asText(),
            node.path("ownerKind").asText(),
            node.path("ownerName").asText(),
            labels),
        time(node.path("reservedAt")),
        optional(node.path("readyAt")),
        node.path("wasReady").asBoolean(),
        optional(node.path("checkpointedAt")),
        amounts);
  }

  private static Optional<Baseline> baseline(JsonNode amount) {
    String pace = amount.path("pace").asText();
    return amount.path("baseline").isTextual() && PACE.matcher(pace).matches()
        ? Optional.of(new Baseline(amount.path("baseline").asText(), new BigDecimal(pace)))
        : Optional.empty();
  }

  private static Optional<Instant> optional(JsonNode millis) {
    return millis.isIntegralNumber() ? Optional.of(time(millis)) : Optional.empty();
  }

  private static Instant time(JsonNode millis) {
    return Instant.ofEpochMilli(millis.asLong());
  }
}
