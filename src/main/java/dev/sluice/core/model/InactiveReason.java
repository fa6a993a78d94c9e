package dev.sluice.core.model;

/**
 * Why a queue is inactive.
 *
 * @param reason the API's reason (such as FlavorNotFound)
 * @param message one sentence that describes the problem
 */
public record InactiveReason(String reason, String message) {}
