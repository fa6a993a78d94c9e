package dev.sluice.kube.client;

import com.fasterxml.jackson.databind.JsonNode;

/** What became of a patch. */
public sealed interface PatchOutcome {

  /** It stands; this is the object now. */
  record Written(JsonNode object) implements PatchOutcome {}

  /** The object has moved on since the version that the patch names: look again. */
  record Conflict() implements PatchOutcome {}

  /** The object doesn't exist any more. */
  record Gone() implements PatchOutcome {}

  /** The API server refuses it, and would again. */
  record Refused(int code, String message) implements PatchOutcome {}

  /** It is unknown what became of it, or the API server is busy: try again later. */
  record Unreachable(String message) implements PatchOutcome {}
}
