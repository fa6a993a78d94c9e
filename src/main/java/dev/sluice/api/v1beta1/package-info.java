/**
 * The version of the API before the stored one, as far as it differs: parts that are the same are
 * those of the stored version. Only what old manifests can say may enter. Nothing of the operator
 * reads these types; their schemas leave, and objects are converted as JSON.
 */
@NullMarked
package dev.sluice.api.v1beta1;

import org.jspecify.annotations.NullMarked;
