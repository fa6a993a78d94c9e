package dev.sluice.api.conversion;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers the API server's conversion reviews. Every review gets an answer: all its objects
 * converted in the order they came, or, when one of them can't be, none and a message that names
 * it.
 */
public final class ConversionReviews {

  private static final Logger LOG = LoggerFactory.getLogger(ConversionReviews.class);
  private static final String API_VERSION = "apiextensions.k8s.io/v1";
  private static final String KIND = "ConversionReview";

  private final Conversions conversions;

  /** Makes an answerer that uses the given conversions. */
  public ConversionReviews(Conversions conversions) {
    this.conversions = conversions;
  }

  /** The answer to a review. Never throws: what is wrong with the review is part of the answer. */
  public JsonNode answer(JsonNode review) {
    ObjectNode answer = JsonNodeFactory.instance.objectNode();
    answer.put("apiVersion", API_VERSION).put("kind", KIND);
    ObjectNode response = answer.putObject("response");
    JsonNode request = review.path("request");
    response.put("uid", request.path("uid").asText(""));
    try {
      check(review);
      response.set("convertedObjects", converted(request));
      response.putObject("result").put("status", "Success");
    } catch (ConversionException e) {
      response.putArray("convertedObjects");
      response.putObject("result").put("status", "Failed").put("message", e.getMessage());
    }
    return answer;
  }

  private static void check(JsonNode review) {
    String apiVersion = review.path("apiVersion").asText();
    if (!apiVersion.equals(API_VERSION) || !review.path("kind").asText().equals(KIND)) {
      throw new ConversionException(
          "apiVersion and kind: \"%s %s\" is not understood; it must be %s %s"
              .formatted(apiVersion, review.path("kind").asText(), API_VERSION, KIND));
    }
    if (!review.path("request").path("objects").isArray()) {
      throw new ConversionException("request.objects: missing; it must be a list of objects");
    }
  }

  private ArrayNode converted(JsonNode request) {
    ArrayNode result = JsonNodeFactory.instance.arrayNode();
    String apiVersion = request.path("desiredAPIVersion").asText();
    int index = 0;
    for (JsonNode object : request.path("objects")) {
      if (!(object instanceof ObjectNode valid)) {
        throw new ConversionException(
            "request.objects[%d]: %s is not an object".formatted(index, object));
      }
      result.add(converted(valid, apiVersion));
      index++;
    }
    return result;
  }

  private ObjectNode converted(ObjectNode object, String apiVersion) {
    try {
      return conversions.convert(object, apiVersion);
    } catch (ConversionException e) {
      throw new ConversionException(name(object) + ": " + e.getMessage());
    } catch (RuntimeException e) {
      LOG.error("object={} conversion to={} failed", name(object), apiVersion, e);
      throw new ConversionException(
          "%s: conversion to %s failed: %s".formatted(name(object), apiVersion, e));
    }
  }

  private static String name(ObjectNode object) {
    JsonNode metadata = object.path("metadata");
    String namespace = metadata.path("namespace").asText("");
    return "%s %s%s"
        .formatted(
            object.path("kind").asText("object"),
            namespace.isEmpty() ? "" : namespace + "/",
            metadata.path("name").asText(metadata.path("generateName").asText("without name")));
  }
}
