package dev.sluice.ledger;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/**
 * The labels that attempts and groups of sums have, each set of them once: most attempts have the
 * labels of others. Not thread-safe.
 */
final class LabelSets {

  /** Which of them nothing has any more. */
  private static final String UNUSED =
      "id NOT IN (SELECT label_set FROM sluice_attempt WHERE label_set IS NOT NULL)"
          + " AND id NOT IN (SELECT label_set FROM sluice_usage_group WHERE label_set IS NOT NULL)";

  private final Map<Map<String, String>, UUID> ids = new HashMap<>();

  /** The name of a set that is to be written; empty for no labels. */
  Optional<UUID> add(Map<String, String> labels) {
    return labels.isEmpty()
        ? Optional.empty()
        : Optional.of(ids.computeIfAbsent(labels, LabelSets::id));
  }

  private static UUID id(Map<String, String> labels) {
    List<String> texts = new ArrayList<>();
    new TreeMap<>(labels).forEach((key, value) -> texts.addAll(List.of(key, value)));
    return digest(texts);
  }

  /** A name that says nothing else: no two lists of texts have the same. */
  static UUID digest(List<String> texts) {
    StringBuilder all = new StringBuilder(256);
    texts.forEach(each -> all.append(each).append('\0'));
    try {
      ByteBuffer digest =
          ByteBuffer.wrap(
              MessageDigest.getInstance("SHA-256").digest(all.toString().getBytes(UTF_8)));
      return new UUID(digest.getLong(), digest.getLong());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("each Java has SHA-256", e);
    }
  }

  /** Sets the name of something, or none. */
  static void set(PreparedStatement statement, int place, Optional<UUID> id) throws SQLException {
    if (id.isPresent()) {
      statement.setObject(place, id.get());
    } else {
      statement.setNull(place, Types.OTHER);
    }
  }

  /**
   * Those of some names that a query finds.
   *
   * @param query for names among an array of them
   */
  static Set<UUID> known(Connection connection, String query, Collection<UUID> names)
      throws SQLException {
    try (PreparedStatement select = connection.prepareStatement(query)) {
      select.setArray(1, connection.createArrayOf("UUID", names.toArray()));
      return names(select);
    }
  }

  private static Set<UUID> names(PreparedStatement select) throws SQLException {
    Set<UUID> names = new HashSet<>();
    try (ResultSet rows = select.executeQuery()) {
      while (rows.next()) {
        names.add(rows.getObject(1, UUID.class));
      }
    }
    return names;
  }

  /**
   * Writes the sets that aren't in the database, without a commit. Until then nobody deletes those
   * that are, which nothing may have so far but what is being written.
   *
   * @throws SQLException also if somebody else wrote one of them for the first time meanwhile
   */
  void write(Connection connection) throws SQLException {
    if (ids.isEmpty()) {
      return;
    }
    Map<UUID, Map<String, String>> missing = new TreeMap<>();
    ids.forEach((labels, id) -> missing.put(id, labels));
    missing
        .keySet()
        .removeAll(
            known(
                connection,
                "SELECT id FROM sluice_label_set WHERE id = ANY(?) ORDER BY id FOR UPDATE",
                ids.values()));
    if (missing.isEmpty()) {
      return;
    }
    try (PreparedStatement insert =
            connection.prepareStatement("INSERT INTO sluice_label_set (id) VALUES (?)");
        PreparedStatement insertLabel =
            connection.prepareStatement(
                "INSERT INTO sluice_label (label_set, label_key, label_value) VALUES (?, ?, ?)")) {
      for (Map.Entry<UUID, Map<String, String>> each : missing.entrySet()) {
        insert.setObject(1, each.getKey());
        insert.addBatch();
        for (Map.Entry<String, String> label : each.getValue().entrySet()) {
          insertLabel.setObject(1, each.getKey());
          insertLabel.setString(2, label.getKey());
          insertLabel.setString(3, label.getValue());
          insertLabel.addBatch();
        }
      }
      insert.executeBatch();
      insertLabel.executeBatch();
    }
  }

  /** Those of some sets that the database has. */
  static Map<UUID, Map<String, String>> read(Connection connection, Collection<UUID> sets)
      throws SQLException {
    Map<UUID, Map<String, String>> read = new HashMap<>();
    if (sets.isEmpty()) {
      return read;
    }
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT label_set, label_key, label_value FROM sluice_label"
                + " WHERE label_set = ANY(?)")) {
      select.setArray(1, connection.createArrayOf("UUID", sets.toArray()));
      try (ResultSet rows = select.executeQuery()) {
        while (rows.next()) {
          read.computeIfAbsent(rows.getObject(1, UUID.class), any -> new HashMap<>())
              .put(rows.getString(2), rows.getString(3));
        }
      }
    }
    return read;
  }

  /** Deletes the sets that nothing has any more; returns how many. */
  static int forget(Connection connection) throws SQLException {
    try (PreparedStatement lock =
        connection.prepareStatement(
            "SELECT id FROM sluice_label_set WHERE %s ORDER BY id FOR UPDATE".formatted(UNUSED))) {
      Set<UUID> unused = names(lock);
      // whoever had locked one of them may have written something that has it
      try (PreparedStatement forget =
          connection.prepareStatement(
              "DELETE FROM sluice_label_set WHERE id = ANY(?) AND " + UNUSED)) {
        forget.setArray(1, connection.createArrayOf("UUID", unused.toArray()));
        return forget.executeUpdate();
      }
    }
  }
}
