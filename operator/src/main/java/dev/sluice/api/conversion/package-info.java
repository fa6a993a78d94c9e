/**
 * Objects of one version of the API read in another: pure functions from JSON to JSON, with the
 * stored version in the middle. A conversion review or a single object enters, well formed or not.
 * The same objects in the version asked for leave, or a message that names the object and the
 * field; what a version can't say stays with the object in an annotation.
 */
@NullMarked
package dev.sluice.api.conversion;

import org.jspecify.annotations.NullMarked;
