package dev.sluice.checks.multikueue.access;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.checks.multikueue.access.KubeconfigTree.Entry;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Reads whom a kubeconfig's user acts as: {@code as}, {@code as-uid}, {@code as-groups} and {@code
 * as-user-extra}. All of them are sent in headers, so that they may only have what a header may.
 */
final class ImpersonationFields {

  private static final String USER = "as";
  private static final String UID = "as-uid";
  private static final String GROUPS = "as-groups";
  private static final String EXTRA = "as-user-extra";
  private static final String TEXTS = "a list of texts";

  private ImpersonationFields() {}

  /** Whom the user acts as; empty if as themselves. */
  static Optional<Impersonation> impersonation(Entry userEntry) throws InvalidAccessException {
    Optional<String> name = text(userEntry, USER);
    if (name.isEmpty()) {
      for (String field : List.of(UID, GROUPS, EXTRA)) {
        if (userEntry.isSet(field)
            && !(userEntry.fields().path(field).isEmpty() && isList(userEntry, field))) {
          throw InvalidAccessException.bad(
              userEntry.path(field), "is given without " + USER, "only together with " + USER);
        }
      }
      return Optional.empty();
    }
    return Optional.of(
        new Impersonation(
            name.get(),
            text(userEntry, UID),
            texts(userEntry.path(GROUPS), userEntry.fields().path(GROUPS)),
            extra(userEntry)));
  }

  private static boolean isList(Entry userEntry, String field) {
    return userEntry.fields().path(field).isContainerNode();
  }

  private static Optional<String> text(Entry userEntry, String field)
      throws InvalidAccessException {
    Optional<String> text = userEntry.text(field);
    if (text.isPresent()) {
      checkHeader(userEntry.path(field), text.get());
    }
    return text;
  }

  private static Map<String, List<String>> extra(Entry userEntry) throws InvalidAccessException {
    JsonNode value = userEntry.fields().path(EXTRA);
    if (value.isMissingNode() || value.isNull()) {
      return Map.of();
    }
    if (!value.isObject()) {
      throw InvalidAccessException.bad(
          userEntry.path(EXTRA), "is not an object", "an object with a list of texts per key");
    }
    Map<String, List<String>> extra = new TreeMap<>();
    for (Map.Entry<String, JsonNode> each : value.properties()) {
      String path = userEntry.path(EXTRA) + "[" + each.getKey() + "]";
      checkHeader(path, each.getKey());
      extra.put(each.getKey(), texts(path, each.getValue()));
    }
    return extra;
  }

  private static List<String> texts(String path, JsonNode value) throws InvalidAccessException {
    if (value.isMissingNode() || value.isNull()) {
      return List.of();
    }
    if (!value.isArray()) {
      throw InvalidAccessException.bad(path, "is not a list", TEXTS);
    }
    List<String> texts = new ArrayList<>();
    for (JsonNode each : value) {
      if (!each.isTextual()) {
        throw InvalidAccessException.bad(path, "has something else than texts", TEXTS);
      }
      checkHeader(path, each.textValue());
      texts.add(each.textValue());
    }
    return texts;
  }

  private static void checkHeader(String path, String text) throws InvalidAccessException {
    boolean plain = text.chars().allMatch(c -> c >= ' ' && c < 0x7f);
    if (text.isEmpty() || !plain || !text.strip().equals(text)) {
      throw InvalidAccessException.bad(
          path,
          "is empty, or has a character that a header can't have",
          "visible characters of ASCII, and spaces between them");
    }
  }
}
