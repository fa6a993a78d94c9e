package dev.sluice.core.model;

/**
 * Why a queue can't be active.
 *
 * @param reason the API's reason (such as FlavorNotFound)
 * @param message one sentence that names what is wrong
 */
public record InactiveReason(String reason, String message) {}
