"""What a message does: the marks of thanks, requests, facts, judgements and lists, in both languages.

They are what the classifier of `learning.py` weighs; alone none of them decides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath

from bughunt.tower.intake.text import Reading
from bughunt.tower.intake.values import Incoming

__all__ = ["marks_of"]

_CUES: Mapping[str, str] = {
    "thanks": r"\bth(?:an)?(?:ks|x)\b|\bthank you|\bcheers\b|much obliged|appreciat|谢|辛苦|感谢|多谢",
    "courtesy": r"\b(?:welcome|no worries|good (?:night|morning)|morning|weekend|have a (?:nice|great)|congrat\w*|haha|lol)"
    r"\b|不客气|新年|祝|早点休息|明天见|晚安|哈哈|早[~～！ ]|周末",
    "acknowledges": r"\b(?:noted|got it|ok(?:ay)?|understood|will do|cool|nice one|sounds good|roger|received)\b|收到|知道了"
    r"|好的|了解|已阅|明白|嗯嗯|👌|👍|🙏",
    "absent": r"out of (?:the )?office|自动回复|automatic reply|休假|年假|放假|on leave|do not read my mail",
    "private": r"\blunch\b|coffee|cake|吃啥|蛋糕|奶茶|meme|wrong (?:window|chat|channel)|发错|invitation|邀请",
    "machine": r"heartbeat|心跳|queued|队列|\bping\b|label '|assignee|pipeline|accepted:|no(?:thing)? due|无到期|scheduler",
    "again": r"\bagain\b|re-?runs?\b|re-?do\b|redo|repeat|once more|fresh run|re-?test|retry|re-?check|重跑|再跑|再来一次|再看|在看一眼"
    r"|重新执行|重新验证|复测|复验|再测|重试|再验|再跑一遍|requested:",
    "goes_on": r"^\W*(?:continue|go on|carry on|proceed|继续\S{0,3}|接着\S{0,3})\W*$|go ahead",
    "status": r"any (?:news|update|progress)|how far|what'?s the status|is there (?:an|any) (?:update|news)|when (?:do|will|can)"
    r"|still open|settled|eta on|好了没|好了吗|进展|进度怎|什么状态|卡在|查得怎么样|有 ?update|结果了吗|验证好了|到哪",
    "narrows": r"\bI mean\b|\bmeant\b|not the\b|only\b.{0,30}\b(?:counts?|matters?|look|check)|narrow it down|clarif|correction|what counts"
    r"|not needed|enough\b|for this one|count from|我说的是?|我问的是|是指|不是.{0,12}[，,]?.{0,4}是|口径|只测|只看|就行|不用管|排除在外|也算|也应该"
    r"|写得不准确|别弄混|也要 ?cover|算进去|instead of",
    "holds": r"\bhold\b|on hold|priority|先别关|先放|不急|优先|等一下|催|抓点紧",
    "accepts": r"\bconfirmed?\b|\bI accept|agree|sign(?:s|ed)? (?:it )?off|no objections?|close (?:it|the|this)|may close|regard this as done"
    r"|ship it|looks (?:right|good|fine) to|correct and|lgtm|approve|认可|同意|可以关|没问题|符合预期|确认是|通过了?|验收通过",
    "rejects": r"can'?t accept|do not agree|don'?t agree|disagree|\breject|not what I see|isn'?t right|by design|不认可|不同意|有异议|结论不对|勿按|不是缺陷",
    "saw": r"\bI (?:see|saw|get|got|tried|put|find|found|pulled|checked)\b|for me\b|keeps giving|shows?\b.{0,30}\b\d|says?\b.{0,20}\d|expected\b.{0,30}\bgot"
    r"|returned?\b|\bstill (?:on|shows?|fails?|wrong|there)|刚.{0,8}(?:试|看|交|改|搜|挂|派)|我(?:这边|自己|在|刚)|显示的?是?|写 ?\d|还是没|看不到了|没被|必现|可复现|复现了"
    r"|成功了|搜不出|录屏|截图|日志拉|掐表|返回|实测",
    "ended": r"\b(?:pass(?:ed)?|fail(?:s|ed|ure)?|assertion\w*|testcase|timeout|refused|unreachable)\b|执行(?:通过|失败)|用例|失败|通过[：。，]|不可信|停机|维护",
    "broken": r"\b50[234]\b|maintenance|gateway|outage|\bdown\b|停机|维护|切库|超时|挂了|不可用",
    "build": r"\bbuild\b ?\S*\d|\bcommit\b|\bmain@|\brc\d|构建|版本|\b[0-9a-f]{7,12}\b|\b\d{4}\.\d{1,2}\.\d|今天的包|on \d{4}\b",
    "measured": r"\d+[.,:]\d|\b\d{2,}\s?(?:s|ms|秒|分钟|条|行|issues?|lines?|rows?)|HTTP/? ?\d{3}|\b[1-5]\d\d\b",
    "file": r"attach|see the log|附件|录屏|截图|日志|screenshot|recording|in the file",
    "vague": r"\b(?:that|this|the other|the same|the first|the second|previous|last) (?:one|thing|issue|case|question|item|point)\b|as (?:I said|discussed)|said above"
    r"|same as before|the result looks|那个|那条|这条|上次|昨天|第[一二三]个|上周|还是不行|修好了|还是对不上|已修复|fixed\b|works now",
    "wants": r"\bplease\b|\bpls\b|could (?:you|somebody|someone)|can (?:you|u)\b|would (?:like|love) to|we need|find out|\bcheck\b|verify|want to know|wonder"
    r"|\bquestions?\b|请(?!假|知悉|查收|自行)|麻烦|帮|想(?:确认|知道|请教|问)|确认|查一下|看一下|看一眼|验证|核实|检查|回归|验收|请问|问一下",
    "fresh": r"different topic|while we'?re at it|unrelated|by the way|another (?:thing|question)|quick question|same idea as|一样的|顺便|另外|不是问|另一件|小疑问|小事|也跑一份|也要来一遍|也想知道"
    r"|as well\b|too\?",
    "expects": r"应(?:为|该|拦截|当)|预期|should\b|supposed to|expected (?:result|behaviou?r)|then\b|能否|是否|会不会|能不能|有没有|是不是|可不可以|对不对|还是(?!不|对|没|少|老)",
    "instead": r"already been (?:taken|done)|taken care of|已经有了|不用动|not asking about",
}
_PATTERNS = {name: re.compile(pattern, re.IGNORECASE | re.MULTILINE) for name, pattern in _CUES.items()}

_KINDS = {
    "seen": {".png", ".jpg", ".jpeg", ".gif", ".webp", ".mp4", ".mov", ".webm", ".avi"},
    "recorded": {".har", ".log", ".txt", ".zip", ".csv", ".xlsx", ".json", ".pdf", ".pcap", ".trace"},
}
_ORNAMENTS = re.compile(r"logo|signature|邀请|banner|icon", re.IGNORECASE)


def marks_of(message: Incoming, reading: Reading) -> dict[str, float]:
    """The marks of what a message does, each from 0 to about 3."""
    text = reading.text
    found = {name: float(min(len(pattern.findall(text)), 3)) for name, pattern in _PATTERNS.items()}
    names = [name for name in message.attachments if not _ORNAMENTS.search(name)]
    suffixes = {PurePath(name).suffix.lower() for name in names}
    found |= {f"file_{kind}": float(bool(suffixes & ends)) for kind, ends in _KINDS.items()}
    found["ends_asking"] = float(bool(re.search(r"[?？]\W*$|吗\W*$", text.strip())))
    found["short"] = float(len(reading.things) < 6)
    found["tiny"] = float(len(reading.things) < 3)
    found["long"] = float(len(text) > 300)
    found["targets"] = float(min(len(reading.targets), 3))
    found |= {f"from_{source}": float(message.source == source) for source in ("ci", "email", "issue", "schedule")}
    return found
