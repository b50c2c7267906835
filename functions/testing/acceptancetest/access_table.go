package acceptancetest

// rights is the status for every operation, kind of resource and caller. It follows the design and not the behaviour of a server.
// The columns are the callers: the organizer is an owner of the organizer, and the editor is its other member. A caller with a
// bad token gets 401 in every row. A missing resource, and a resource below the wrong task (strayed), is answered with 404 to
// everybody, unless the table has a row for it.
//
// The requests change nothing that other requests depend on. PATCH and DELETE have an If-Match that fails, so callers with the
// right get 412. Registrations have the name of an existing team, so callers with the right get 409. Other POSTs create unrelated
// resources.
const rights = `
                                             anonymous outsider registrant owner rival editor organizer admin worker

GET /                                              200      200        200   200   200    200       200   200    200
GET /v1                                            200      200        200   200   200    200       200   200    200
GET /v1/platform                                   200      200        200   200   200    200       200   200    200
GET /health                                        200      200        200   200   200    200       200   200    200
GET /health/live                                   200      200        200   200   200    200       200   200    200
GET /info                                          200      200        200   200   200    200       200   200    200
GET /openapi.json                                  200      200        200   200   200    200       200   200    200
GET /openapi.yaml                                  200      200        200   200   200    200       200   200    200
GET /docs                                          200      200        200   200   200    200       200   200    200
GET /console                                       200      200        200   200   200    200       200   200    200
GET /console/{file}                                200      200        200   200   200    200       200   200    200

GET /v1/organizers                                 200      200        200   200   200    200       200   200    200
POST /v1/organizers                                401      201        201   201   201    201       201   201    201
GET /v1/organizers/{organizerId}                   200      200        200   200   200    200       200   200    200
PATCH /v1/organizers/{organizerId}                 401      403        403   403   403    412       412   412    403
DELETE /v1/organizers/{organizerId}                401      403        403   403   403    403       412   412    403

GET /v1/organizers/{organizerId}/audit-entries     401      403        403   403   403    200       200   200    403
GET /v1/organizers/{organizerId}/todos             401      403        403   403   403    204       204   204    403
GET /v1/organizers/{organizerId}/invitations       401      403        403   403   403    403       200   200    403
POST /v1/organizers/{organizerId}/invitations      401      403        403   403   403    403       201   201    403
DELETE /v1/organizers/{organizerId}/invitations/{invitationId}
    of the organizer                               401      403        403   403   403    403       412   412    403
GET /v1/organizers/{organizerId}/members           200      200        200   200   200    200       200   200    200
GET /v1/organizers/{organizerId}/members/{userId}
    organizer                                      200      200        200   200   200    200       200   200    200
    outsider                                       404      404        404   404   404    404       404   404    404
DELETE /v1/organizers/{organizerId}/members/{userId}
    organizer                                      401      403        403   403   403    403       412   412    403
    editor                                         401      403        403   403   403    412       412   412    403
    outsider                                       404      404        404   404   404    404       404   404    404

GET /v1/organizers/{organizerId}/webhooks          401      403        403   403   403    200       200   200    403
POST /v1/organizers/{organizerId}/webhooks         401      403        403   403   403    201       201   201    403
GET /v1/organizers/{organizerId}/webhooks/{webhookId}
    the organizer's                                404      404        404   404   404    200       200   200    404
PATCH DELETE /v1/organizers/{organizerId}/webhooks/{webhookId}
    the organizer's                                404      404        404   404   404    412       412   412    404
POST /v1/organizers/{organizerId}/webhooks/{webhookId}/secrets
    the organizer's                                404      404        404   404   404    201       201   201    404
GET /v1/organizers/{organizerId}/webhooks/{webhookId}/deliveries
    the organizer's                                404      404        404   404   404    200       200   200    404
GET /v1/organizers/{organizerId}/webhooks/{webhookId}/deliveries/{deliveryId}
    the organizer's                                404      404        404   404   404    200       200   200    404
POST /v1/organizers/{organizerId}/webhooks/{webhookId}/deliveries/{deliveryId}/attempts
    the organizer's                                404      404        404   404   404    201       201   201    404

GET /v1/tasks                                      200      200        200   200   200    200       200   200    200
POST /v1/tasks
    public                                         401      403        403   403   403    201       201   201    403
    missing                                        401      422        422   422   422    422       422   422    422
GET /v1/tasks/{taskId}
    public                                         200      200        200   200   200    200       200   200    200
    private                                        404      404        200   200   404    200       200   200    404
PATCH DELETE /v1/tasks/{taskId}
    public                                         401      403        403   403   403    412       412   412    403
    private                                        404      404        403   403   404    412       412   412    404
GET /v1/tasks/{taskId}/audit-entries
    public                                         401      403        403   403   403    200       200   200    403
    private                                        404      404        403   403   404    200       200   200    404
GET /v1/tasks/{taskId}/evaluations
    public                                         200      200        200   200   200    200       200   200    200
    private                                        404      404        200   200   404    200       200   200    404

GET /v1/datasets                                   200      200        200   200   200    200       200   200    200
POST /v1/datasets
    public                                         401      403        403   403   403    201       201   201    403
    private                                        401      422        403   403   422    201       201   201    422
    missing                                        401      422        422   422   422    422       422   422    422
GET /v1/datasets/{datasetId}
    public                                         200      200        200   200   200    200       200   200    200
    private                                        404      404        200   200   404    200       200   200    404
GET /v1/datasets/{datasetId}/leaderboard
    public                                         200      200        200   200   200    200       200   200    200
    private                                        404      404        200   200   404    200       200   200    404
PATCH DELETE /v1/datasets/{datasetId}
    public                                         401      403        403   403   403    412       412   412    403
    private                                        404      404        403   403   404    412       412   412    404
PATCH /v1/datasets/{datasetId}/reviews
    public                                         401      403        403   403   403    412       412   412    403
    private                                        404      404        403   403   404    412       412   412    404

GET /v1/tasks/{taskId}/registrations
    public                                         401      204        200   200   204    200       200   200    204
    private                                        404      404        200   200   404    200       200   200    404
POST /v1/tasks/{taskId}/registrations
    public                                         401      409        409   409   409    409       409   409    409
    private                                        404      404        409   409   404    409       409   409    404
GET /v1/tasks/{taskId}/registrations/{registrationId}
    public                                         404      404        404   200   404    200       200   200    404
    private                                        404      404        404   200   404    200       200   200    404
PATCH DELETE /v1/tasks/{taskId}/registrations/{registrationId}
    public                                         404      404        404   412   404    412       412   412    404
    private                                        404      404        404   412   404    412       412   412    404
GET /v1/tasks/{taskId}/registrations/{registrationId}/exceptions
    public                                         404      404        404   200   404    200       200   200    404
    private                                        404      404        404   200   404    200       200   200    404
POST /v1/tasks/{taskId}/registrations/{registrationId}/exceptions
    public                                         404      404        404   403   404    201       201   201    404
    private                                        404      404        404   403   404    201       201   201    404
GET /v1/tasks/{taskId}/registrations/{registrationId}/exceptions/{exceptionId}
    public                                         404      404        404   200   404    200       200   200    404
    private                                        404      404        404   200   404    200       200   200    404
DELETE /v1/tasks/{taskId}/registrations/{registrationId}/exceptions/{exceptionId}
    public                                         404      404        404   403   404    412       412   412    404
    private                                        404      404        404   403   404    412       412   412    404

DELETE /v1/tasks/{taskId}/registrations/{registrationId}/members/{userId}
    owner                                          404      404        404   412   404    412       412   412    404
    owner, private task                            404      404        404   412   404    412       412   412    404
    outsider                                       404      404        404   404   404    404       404   404    404

GET /v1/tasks/{taskId}/announcements
    public                                         200      200        200   200   200    200       200   200    200
    private                                        404      404        200   200   404    200       200   200    404
POST /v1/tasks/{taskId}/announcements
    public                                         401      403        403   403   403    201       201   201    403
    private                                        404      404        403   403   404    201       201   201    404
GET /v1/tasks/{taskId}/announcements/{announcementId}
    public                                         200      200        200   200   200    200       200   200    200
    private                                        404      404        200   200   404    200       200   200    404
PATCH DELETE /v1/tasks/{taskId}/announcements/{announcementId}
    public                                         401      403        403   403   403    412       412   412    403
    private                                        404      404        403   403   404    412       412   412    404

GET /v1/tasks/{taskId}/webhooks
    public                                         401      403        403   403   403    200       200   200    403
    private                                        404      404        403   403   404    200       200   200    404
POST /v1/tasks/{taskId}/webhooks
    public                                         401      403        403   403   403    201       201   201    403
    private                                        404      404        403   403   404    201       201   201    404
GET /v1/tasks/{taskId}/webhooks/{webhookId}
    public                                         404      404        404   404   404    200       200   200    404
    private                                        404      404        404   404   404    200       200   200    404
PATCH DELETE /v1/tasks/{taskId}/webhooks/{webhookId}
    public                                         404      404        404   404   404    412       412   412    404
    private                                        404      404        404   404   404    412       412   412    404
POST /v1/tasks/{taskId}/webhooks/{webhookId}/secrets
    public                                         404      404        404   404   404    201       201   201    404
    private                                        404      404        404   404   404    201       201   201    404
GET /v1/tasks/{taskId}/webhooks/{webhookId}/deliveries
    public                                         404      404        404   404   404    200       200   200    404
    private                                        404      404        404   404   404    200       200   200    404
GET /v1/tasks/{taskId}/webhooks/{webhookId}/deliveries/{deliveryId}
    public                                         404      404        404   404   404    200       200   200    404
    private                                        404      404        404   404   404    200       200   200    404
POST /v1/tasks/{taskId}/webhooks/{webhookId}/deliveries/{deliveryId}/attempts
    public                                         404      404        404   404   404    201       201   201    404
    private                                        404      404        404   404   404    201       201   201    404

GET /v1/tasks/{taskId}/invitations
    public                                         401      403        403   403   403    200       200   200    403
    private                                        404      404        403   403   404    200       200   200    404
POST /v1/tasks/{taskId}/invitations
    public                                         401      403        403   403   403    201       201   201    403
    private                                        404      404        403   403   404    201       201   201    404
DELETE /v1/tasks/{taskId}/invitations/{invitationId}
    public                                         401      403        403   403   403    412       412   412    403
    private                                        404      404        403   403   404    412       412   412    404
    strayed                                        404      404        403   403   404    404       404   404    404
GET /v1/tasks/{taskId}/registrations/{registrationId}/invitations
    public                                         404      404        404   200   404    200       200   200    404
    private                                        404      404        404   200   404    200       200   200    404
POST /v1/tasks/{taskId}/registrations/{registrationId}/invitations
    public                                         404      404        404   201   404    201       201   201    404
    private                                        404      404        404   201   404    201       201   201    404
DELETE /v1/tasks/{taskId}/registrations/{registrationId}/invitations/{invitationId}
    public                                         404      404        404   412   404    412       412   412    404
    private                                        404      404        404   412   404    412       412   412    404

GET /v1/tasks/{taskId}/submissions
    public                                         200      200        200   200   200    200       200   200    200
    private                                        404      404        200   200   404    200       200   200    404
POST /v1/tasks/{taskId}/submissions
    public                                         401      403        201   201   403    403       403   403    403
    private                                        404      404        201   201   404    403       403   403    404
GET /v1/tasks/{taskId}/submissions/{submissionId}
    public entry, public task                      200      200        200   200   200    200       200   200    200
    public entry, private task                     404      404        200   200   404    200       200   200    404
    private entry, public task                     404      404        404   200   404    200       200   200    404
    private entry, private task                    404      404        404   200   404    200       200   200    404
PATCH DELETE /v1/tasks/{taskId}/submissions/{submissionId}
    public entry, public task                      401      403        403   412   403    412       412   412    403
    public entry, private task                     404      404        403   412   404    412       412   412    404
    private entry, public task                     404      404        404   412   404    412       412   412    404
    private entry, private task                    404      404        404   412   404    412       412   412    404

GET /v1/runs                                       200      200        200   200   200    200       200   200    200
GET /v1/runs/{runId}
    public entry, public task                      200      200        200   200   200    200       200   200    200
    public entry, private task                     404      404        200   200   404    200       200   200    404
    private entry, public task                     404      404        404   200   404    200       200   200    404
    private entry, private task                    404      404        404   200   404    200       200   200    404
PATCH DELETE /v1/runs/{runId}
    public entry, public task                      401      403        403   412   403    412       412   412    403
    public entry, private task                     404      404        403   412   404    412       412   412    404
    private entry, public task                     404      404        404   412   404    412       412   412    404
    private entry, private task                    404      404        404   412   404    412       412   412    404
GET /v1/runs/{runId}/review
    public entry, public task                      404      404        404   200   404    200       200   200    404
    public entry, private task                     404      404        404   200   404    200       200   200    404
    private entry, public task                     404      404        404   200   404    200       200   200    404
    private entry, private task                    404      404        404   200   404    200       200   200    404
PATCH /v1/runs/{runId}/review
    public entry, public task                      404      404        404   403   404    412       412   412    404
    public entry, private task                     404      404        404   403   404    412       412   412    404
    private entry, public task                     404      404        404   403   404    412       412   412    404
    private entry, private task                    404      404        404   403   404    412       412   412    404

GET /v1/deletions                                  401      204        204   204   204    204       204   204    204
GET DELETE /v1/deletions/{deletionId}
    missing                                        404      404        404   404   404    404       404   404    404

GET /v1/evaluations                                200      200        200   200   200    200       200   200    200
GET /v1/evaluations/{evaluationId}
    published, public task                         200      200        200   200   200    200       200   200    200
    published, private task                        404      404        200   200   404    200       200   200    404
    published, of a private entry, public task     200      200        200   200   200    200       200   200    200
    published, of a private entry, private task    404      404        200   200   404    200       200   200    404
    unpublished, public task                       404      404        404   200   404    200       200   200    404
    unpublished, private task                      404      404        404   200   404    200       200   200    404
    blinded, public task                           404      404        404   404   404    200       200   200    404
    blinded, private task                          404      404        404   404   404    200       200   200    404
    published and blinded, public task             404      404        404   404   404    200       200   200    404
    published and blinded, private task            404      404        404   404   404    200       200   200    404

GET /v1/platform/components                        200      200        200   200   200    200       200   200    200
GET /v1/platform/components/{componentId}          200      200        200   200   200    200       200   200    200
GET /v1/platform/components/{componentId}/snippet  200      200        200   200   200    200       200   200    200

GET /v1/platform/queues                            401      403        403   403   403    403       403   200    403
GET /v1/platform/storage                           401      403        403   403   403    403       403   200    403
GET /v1/platform/storage/users                     401      403        403   403   403    403       403   200    403

GET /v1/tools                                      200      200        200   200   200    200       200   200    200
GET /v1/tools/{tool}                               200      200        200   200   200    200       200   200    200
POST /v1/tools/{tool}                              200      200        200   200   200    200       200   200    200
GET /v1/tools/{tool}/result                        200      200        200   200   200    200       200   200    200

GET /v1/user                                       401      200        200   200   200    200       200   200    200
PATCH DELETE /v1/user                              401      412        412   412   412    412       412   412    412
GET /v1/user/notifications                         401      200        200   200   200    200       200   200    200
PATCH /v1/user/notifications                       401      412        412   412   412    412       412   412    412
GET POST /v1/users/{userId}/unsubscriptions/{unsubscriptionId}
    missing                                        404      404        404   404   404    404       404   404    404
POST /v1/user/memberships                          401      422        422   422   422    422       422   422    422
POST /v1/user/tokens                               401      201        201   201   201    201       201   201    201
GET /v1/user/tokens                                401      200        200   200   200    200       200   200    200
DELETE /v1/user/tokens/{tokenId}
    of the owner                                   401      404        404   412   404    404       404   404    404
    missing                                        401      404        404   404   404    404       404   404    404
GET /v1/users                                      401      403        403   403   403    403       403   200    403
GET /v1/users/{userId}
    owner                                          401      403        403   200   403    403       403   200    403
    outsider                                       401      200        403   403   403    403       403   200    403
    missing                                        401      403        403   403   403    403       403   404    403
PATCH /v1/users/{userId}
    owner                                          401      403        403   403   403    403       403   412    403
    missing                                        401      403        403   403   403    403       403   404    403
DELETE /v1/users/{userId}
    owner                                          401      403        403   403   403    403       403   412    403
    missing                                        401      403        403   403   403    403       403   412    403
GET /v1/users/{userId}/tokens
    owner                                          401      403        403   200   403    403       403   200    403
    missing                                        401      403        403   403   403    403       403   204    403
DELETE /v1/users/{userId}/tokens/{tokenId}
    owner                                          401      403        403   412   403    403       403   412    403
    missing                                        401      403        403   403   403    403       403   404    403
GET /v1/users/{userId}/submissions
    owner                                          200      200        200   200   200    200       200   200    200
    outsider                                       204      204        204   204   204    204       204   204    204
    missing                                        204      204        204   204   204    204       204   204    204
`
