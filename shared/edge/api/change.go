package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"time"

	"assay/shared/domain/access"
	"assay/shared/domain/patch"
	"assay/shared/language/problem"
	"assay/shared/storage/store"
)

// After runs do after the change in c.Tx is committed and before the answer is sent. The change stands whatever do does.
func (c *Call) After(do func(ctx context.Context)) { c.after = append(c.after, do) }

// InTrash is what descriptions of operations say of what they delete.
const InTrash = "It can be restored for 30 days: `/v1/deletions` lists it, and its files count as stored until then. " +
	"Links to files that were signed before remain valid until they expire."

// propagationTime is how long a request waits until records that depend on a changed record follow it. The background worker does the rest.
const propagationTime = 10 * time.Second

// Propagate calls propagate with the key of the changed record after the change is committed.
func (c *Call) Propagate(propagate func(context.Context, store.Key) error, key store.Key) {
	c.After(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, propagationTime)
		defer cancel()
		if err := propagate(ctx, key); err != nil {
			c.Log.WarnContext(ctx, "cannot propagate a change now; it is propagated later", "record", key.Partition+" "+key.Sort, "error", err)
		}
	})
}

// URL is the answer to a POST that returns only the address of the created resource.
type URL struct {
	ID  string `json:"id" doc:"id of the new resource"`
	URL string `json:"url" format:"uri-reference" doc:"address of the new resource" example:"/v1/tasks/01JZ3V7Q0D8T5RZ0S6R1W9C4XK"`
}

// Creator creates a resource from a draft under a target. It adds the writes to c.Tx, and returns the location of the resource and the
// answer. It is called again if another request changes what it read before the writes are committed.
type Creator[T Target, D, R any] func(ctx context.Context, c *Call, under T, draft D) (location string, answer R, err error)

// Create declares an operation that creates a resource under a target. handle gets only drafts that passed all checks.
func Create[T Target, D, R any](s Spec, load Loader[T], handle Creator[T, D, R]) Operation {
	op := CreateIn(s, "", func(ctx context.Context, c *Call, _ D) (T, error) { return load(ctx, c) }, handle)
	op.load, op.targetInBody = load.target, false
	return op
}

// CreateIn is like Create, for a target that the member of the body at the pointer names. load reads the target.
func CreateIn[T Target, D, R any](s Spec, pointer string, load func(context.Context, *Call, D) (T, error),
	handle Creator[T, D, R]) Operation {
	return Operation{
		Spec: s, Method: http.MethodPost, Status: http.StatusCreated, Body: reflect.TypeFor[D](), Result: reflect.TypeFor[R](),
		widest: WidestScope[T](), targetInBody: true,
		serve: func(ctx context.Context, c *Call) error {
			draft, err := readDraft[D](ctx, c)
			if err != nil {
				return err
			}
			find := func(ctx context.Context, c *Call) (Target, error) { return load(ctx, c, draft) }
			if c.op.targetInBody {
				c.target, err = c.authorizeTarget(ctx, find)
			}
			if problem.NotFound.Is(err) {
				return problem.InvalidMember(pointer, "names nothing that you can see")
			}
			if err != nil {
				return err
			}
			return c.create(ctx, find, func(t Target) (string, any, error) {
				location, made, err := handle(ctx, c, t.(T), draft)
				return location, made, err
			})
		},
	}
}

// Repeats makes the status of the answer 200, not 201, because a Creator found that the resource exists already. The operation's Repeated
// describes this answer.
func (c *Call) Repeats() { c.repeats = true }

// create creates a resource. Requests with the same Idempotency-Key create it once.
func (c *Call) create(ctx context.Context, find targetLoader, produce func(Target) (location string, made any, err error)) error {
	var shown any
	key, err := c.claimKey(ctx)
	if err != nil {
		return err
	}
	if key != nil && key.Done {
		return c.writeReplay(key)
	}
	if key != nil {
		defer c.server.claims.Delete(key.Key())
	}
	var a answer
	err = c.retryOnConflict(ctx, find, func(t Target) error {
		c.repeats = false
		location, made, err := produce(t)
		if err == nil {
			err = c.resolvePeople(ctx, made)
		}
		shown = made
		if err != nil {
			return err
		}
		status := http.StatusCreated
		if c.repeats {
			status = http.StatusOK
		}
		if a, err = newAnswer(status, made, nil); err != nil {
			return err
		}
		a.location = location
		if _, shown := revision(made); !shown {
			a.etag = "" // the answer is not the resource, so its digest is not the resource's entity tag
		}
		return a.store(c.Tx, key, made)
	})
	if err != nil {
		c.releaseKey(ctx, key)
		return err
	}
	if c.preview != nil {
		return c.writePreview(ctx, a.status, shown)
	}
	return c.write(a)
}

// Patch declares an operation that changes a resource. The patch applies to the view of the target. D has the members that may change.
// handle gets their new values, adds the writes to c.Tx, and returns the changed target. If the patch leaves all members of D unchanged,
// handle is not called. If D has no members, the request itself is the change and handle is always called.
func Patch[T Target, D, R any](s Spec, load Loader[T], view func(context.Context, *Call, T) (R, error),
	handle func(context.Context, *Call, T, D) (T, error)) Operation {
	writable := fieldNames(reflect.TypeFor[D]())
	return Operation{
		Spec: s, Method: http.MethodPatch, Status: http.StatusOK, patch: true,
		Body: reflect.TypeFor[D](), Result: reflect.TypeFor[R](), load: load.target, widest: WidestScope[T](),
		serve: func(ctx context.Context, c *Call) error {
			mediaType, err := c.readBody(ctx, patch.MediaTypes)
			if err == nil && mediaType == patch.MergePatch {
				err = schemas.checkNulls(reflect.TypeFor[D](), c.body)
			}
			if err != nil {
				return err
			}
			var changed T
			err = c.retryOnConflict(ctx, load.target, func(t Target) error {
				shown, err := view(ctx, c, t.(T))
				if err == nil {
					err = c.resolvePeople(ctx, shown)
				}
				if err != nil {
					return err
				}
				var draft D
				var same bool
				if err := c.decode(ctx, c.body, func() (err error) {
					draft, same, err = patched[D](ctx, mediaType, c.body, shown, writable)
					return err
				}); err != nil {
					return err
				}
				changed = t.(T)
				if same && len(writable) > 0 {
					return nil
				}
				changed, err = handle(ctx, c, changed, draft)
				return err
			})
			if err != nil {
				return err
			}
			r, err := view(ctx, c, changed)
			if err != nil {
				return err
			}
			return c.writeResource(ctx, r)
		},
	}
}

// patched applies the patch to the writable members of the resource. It reports same if the patch leaves them unchanged.
func patched[D any](ctx context.Context, mediaType string, body []byte, shown any, writable []string) (draft D, same bool, err error) {
	resource, err := Encode(shown)
	if err != nil {
		return draft, false, err
	}
	document, err := patch.Apply(mediaType, body, bytes.TrimSpace(resource), writable)
	if err != nil {
		return draft, false, err
	}
	unpatched, err := patch.Apply(patch.MergePatch, []byte("{}"), resource, writable)
	if err != nil {
		return draft, false, err
	}
	if draft, err = DecodeDraft[D](ctx, document); err != nil || bytes.Equal(document, unpatched) {
		return draft, true, err
	}
	var before D // normalized like the draft, because a patch may set a member to its default or leave it out
	if err := json.Unmarshal(unpatched, &before); err != nil {
		return draft, false, err
	}
	normalize(&before)
	return draft, reflect.DeepEqual(draft, before), nil
}

// normalize sets the defaults of members that a draft leaves out.
func normalize(draft any) {
	if n, ok := draft.(interface{ Normalize() }); ok {
		n.Normalize()
	}
}

// readDraft reads and checks the JSON body of a request. The body is a draft, or a batch of changes.
func readDraft[D any](ctx context.Context, c *Call) (draft D, err error) {
	mediaTypes := []string{mediaJSON}
	if c.op.Method == http.MethodPatch {
		mediaTypes = append(mediaTypes, patch.MergePatch)
	}
	if _, err := c.readBody(ctx, mediaTypes); err != nil {
		return draft, err
	}
	err = c.decode(ctx, c.body, func() (err error) {
		draft, err = DecodeDraft[D](ctx, c.body)
		return err
	})
	return draft, err
}

// DecodeDraft validates a JSON document and decodes it into a draft. jsoncheck.Check must have accepted the document.
func DecodeDraft[D any](ctx context.Context, document []byte) (draft D, err error) {
	if err := schemas.validate(ctx, reflect.TypeFor[D](), document); err != nil {
		return draft, err
	}
	if err := json.Unmarshal(document, &draft); err != nil {
		return draft, decodingProblem(err)
	}
	normalize(&draft)
	if n, ok := any(&draft).(interface{ Check() []problem.Field }); ok {
		return draft, problem.Check(n.Check())
	}
	return draft, nil
}

// decodingProblem names the member that its schema allows and Go cannot decode, such as a whole number written as 5.0 or 1e2.
func decodingProblem(err error) error {
	of, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok || !strings.HasPrefix(of.Value, "number") {
		return problem.Invalid.New("The body does not fit: %v.", err)
	}
	return problem.InvalidMember(pointerTo(of.Field), "must be a whole number without a point or an exponent, not %s",
		strings.TrimPrefix(of.Value, "number "))
}

// loginNeeded reports whether the operation refuses callers without a login.
func (op *Operation) loginNeeded() bool { return op.May&access.Anyone == 0 }
