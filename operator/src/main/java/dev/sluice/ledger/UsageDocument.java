package dev.sluice.ledger;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonFields;
import dev.sluice.ledger.UsageQuery.Span;
import dev.sluice.ledger.UsageRows.Money;
import dev.sluice.ledger.UsageRows.UsageRow;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What was used, as the document that the operator answers (docs/ledger.md#usage). Numbers are
 * texts, because they are exact.
 */
public final class UsageDocument {

  private UsageDocument() {}

  /** The document of rows. */
  public static ObjectNode of(UsageRows rows) {
    ObjectNode document = JsonNodeFactory.instance.objectNode();
    document.put("kind", "Usage").put("incomplete", rows.incomplete());
    if (!rows.currency().isEmpty()) {
      document.put("currency", rows.currency());
    }
    rows.labels().forEach(document.withArray("labels")::add);
    document.putArray("rows");
    for (UsageRow row : rows.rows()) {
      ObjectNode line = document.withArray("rows").addObject();
      line.put("since", row.span().since().toString()).put("until", row.span().until().toString());
      ObjectNode by = line.putObject("by");
      row.by().forEach(by::put);
      line.put("flavor", row.flavor())
          .put("resource", row.resource())
          .put("reserved", row.reserved().toPlainString())
          .put("run", row.run().toPlainString())
          .put("waited", row.waited().toPlainString())
          .put("lost", row.lost().toPlainString())
          .put("cost", row.cost().toPlainString())
          .put("saved", row.saved().toPlainString());
    }
    return document;
  }

  /**
   * The rows of a document.
   *
   * @throws IOException if it is no such document
   */
  public static UsageRows parse(JsonNode document) throws IOException {
    List<UsageRow> rows = new ArrayList<>();
    try {
      for (JsonNode line : document.path("rows")) {
        Map<String, String> by = new LinkedHashMap<>();
        line.path("by")
            .properties()
            .forEach(group -> by.put(group.getKey(), group.getValue().asText()));
        rows.add(
            new UsageRow(
                new Span(
                    Instant.parse(line.path("since").asText()),
                    Instant.parse(line.path("until").asText())),
                by,
                line.path("flavor").asText(),
                line.path("resource").asText(),
                new BigDecimal(line.path("reserved").asText()),
                new BigDecimal(line.path("run").asText()),
                new BigDecimal(line.path("lost").asText()),
                new Money(
                    new BigDecimal(line.path("cost").asText("0")),
                    new BigDecimal(line.path("saved").asText("0")))));
      }
    } catch (DateTimeException | NumberFormatException e) {
      throw new IOException("the answer is no usage: " + e.getMessage(), e);
    }
    return new UsageRows(
        rows,
        document.path("incomplete").asBoolean(),
        document.path("currency").asText(),
        JsonFields.texts(document, "labels"));
  }
}
