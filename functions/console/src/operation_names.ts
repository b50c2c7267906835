// The operations of the API that texts of problems name, in the words of the console.

/** The place in the console where a reader does an operation, by its operationId. Each continues a sentence like a noun. */
const places: Record<string, string> = {
  createOrganizerInvitation: "“Invite a member” on the page of the organizer",
  createRegistration: "“Take part” on the page of the task",
  createTaskInvitation: "“Invite a team” under Manage, Teams",
  createTeamInvitation: "“Invite a member” on the page Team",
  createToken: "“Make an access token” on the page under your name",
  deleteCurrentUser: "“Delete my account” on the page under your name",
  deleteMember: "“Remove” on the page of the organizer",
  deleteOrganizerInvitation: "“Withdraw” beside the invitation",
  deleteRegistration: "“Withdraw the team” on the page Team",
  deleteTask: "“Delete the task” on the page Edit",
  deleteTaskInvitation: "“Withdraw” beside the invitation",
  deleteTeamInvitation: "“Withdraw” beside the invitation",
  deleteTeamMember: "“Leave” on the page Team",
  deleteToken: "“Revoke” on the page under your name",
  getCurrentUser: "the page under your name",
  getIndex: "the start page",
  getInfo: "the documentation of this server",
  getOpenapiJson: "the documentation of this server",
  getTask: "the page of the task",
  getVersionIndex: "the documentation of this server",
  listComponents: "the page of components",
  undoDeletion: "“Restore” in the trash",
  updateCurrentUser: "a change on the page under your name",
  updateOrganizerWebhook: "“Switch on” on the page Webhooks",
  updateRegistration: "“Make owner” on the page Team",
  updateRun: "“Unmark as final” on the page of the run",
  updateTaskWebhook: "“Switch on” on the page Webhooks",
};

/** placeOf returns the place of an operation in the console. body is the body that the text gives to the operation. */
export function placeOf(operation: string | undefined, body: string | undefined): string {
  if (operation === "updateRegistration" && body?.includes("acceptedTerms"))
    return "“Accept” on the page Team, once you have read the terms";
  if (operation === "updateRegistration" && body?.includes("state")) return "“Accept” on the page of the team";
  return places[operation ?? ""] ?? "the page that does it";
}
