/**
 * Admission and conversion as functions from review to answer: what is filled in, what is refused
 * and with which words, and the registrations that make the API server ask. JSON, and facts of the
 * cluster through one small interface, may enter; sockets and clients stay outside. An answer
 * leaves, never an exception for what a user wrote.
 */
@NullMarked
package dev.sluice.webhooks;

import org.jspecify.annotations.NullMarked;
