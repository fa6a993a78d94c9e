package dev.sluice.ledger;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.util.ByteArrayBuilder;
import com.fasterxml.jackson.databind.JsonNode;
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

  /** How many bytes most lines have at most. */
  private static final int LINE = 600;

  private ObservationCodec() {}

  /** The line of an observation, with its line feed. */
  static byte[] encode(AttemptObservation observation) throws IOException {
    ByteArrayBuilder line = new ByteArrayBuilder(LINE);
    try (JsonGenerator json = JsonMappers.JSON.getFactory().createGenerator(line)) {
      json.writeStartObject();
      json.writeStringField("workload", observation.workload());
      json.writeNumberField("version", observation.version());
      json.writeNumberField("observedAt", observation.observedAt().toEpochMilli());
      if (observation.reservation().isPresent()) {
        json.writeObjectFieldStart("reservation");
        reservation(json, observation.reservation().get());
        json.writeEndObject();
      }
      if (observation.ending().isPresent()) {
        Ending end = observation.ending().get();
        json.writeObjectFieldStart("ending");
        json.writeNumberField("at", end.at().toEpochMilli());
        json.writeStringField("outcome", end.outcome().text());
        json.writeStringField("reason", end.reason());
        json.writeEndObject();
      }
      json.writeEndObject();
    }
    line.append('\n');
    return line.toByteArray();
  }

  private static void reservation(JsonGenerator json, Reservation reservation) throws IOException {
    Holder holder = reservation.holder();
    json.writeStringField("namespace", holder.namespace());
    json.writeStringField("workload", holder.workload());
    json.writeStringField("localQueue", holder.localQueue());
    json.writeStringField("clusterQueue", holder.clusterQueue());
    json.writeStringField("cohortPath", holder.cohortPath());
    json.writeStringField("ownerKind", holder.ownerKind());
    json.writeStringField("ownerName", holder.ownerName());
    json.writeObjectFieldStart("labels");
    for (Map.Entry<String, String> label : holder.labels().entrySet()) {
      json.writeStringField(label.getKey(), label.getValue());
    }
    json.writeEndObject();
    json.writeNumberField("reservedAt", reservation.reservedAt().toEpochMilli());
    json.writeBooleanField("wasReady", reservation.wasReady());
    time(json, "readyAt", reservation.readyAt());
    time(json, "checkpointedAt", reservation.checkpointedAt());
    json.writeArrayFieldStart("amounts");
    for (Amount amount : reservation.amounts()) {
      json.writeStartObject();
      json.writeStringField("flavor", amount.flavor());
      json.writeStringField("resource", amount.resource());
      json.writeNumberField("amount", amount.amount());
      if (amount.baseline().isPresent()) {
        json.writeStringField("baseline", amount.baseline().get().flavor());
        json.writeStringField("pace", amount.baseline().get().pace().toPlainString());
      }
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private static void time(JsonGenerator json, String name, Optional<Instant> time)
      throws IOException {
    if (time.isPresent()) {
      json.writeNumberField(name, time.get().toEpochMilli());
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
