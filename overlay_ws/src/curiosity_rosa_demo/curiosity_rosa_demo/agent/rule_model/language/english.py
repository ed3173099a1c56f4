# Copyright 2026 Curiosity ROSA maintainers
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0 Unless required by applicable law or agreed to in
# writing, software distributed under the License is distributed on an "AS IS" BASIS, WITHOUT
# WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the specific
# language governing permissions and limitations under the License.

"""The English words of the grammar: tags and their phrases, separated by bars. Data.

A phrase may have several tags: ``GO+ING`` is a verb in the form that orders nothing by itself.

Over 300 lines in one file: it is one table.
"""

WORDS = {
    'POLITE': (
        'can you|could you|would you|will you|would you mind|can you please|could you please|'
        'would you please|i want you to|could i have|can i have|may i have|may i ask you to|'
        'can we|could we|would you kindly|could you kindly|can i get|could i get|'
        'could you just|would you be so kind as to|can you just|it would be great if you could|'
        'it would be nice if you could|i would appreciate it if you could|'
        "i'd appreciate it if you could|i would be grateful if you could|"
        "i'd be grateful if you could|could you maybe|do you think you could|"
        'would you be able to|would you mind to|are you able to please|be a dear and|'
        'do me a favour and|do me a favor and|could you possibly|can you possibly|'
        'could you go ahead and|can you go ahead and|if you could|could i get you to|'
        'can i get you to|might you|can you kindly|would it be possible for you to|can you now|'
        "could you now|will you please|can i ask you to|could i ask you to|we'd like you to|"
        'we would like you to|could you quickly|can you quickly|could we get|can we get|'
        'could we have|can we have|could you help me'
    ),
    'ASK': '?',
    'START': (
        'would you mind|start|begin|start to|begin to|begin with|start with|start by|begin by|'
        'go|do some|do some more|do a bit of|needs|needs some|wants|could do with|requires|'
        'deserves|start off by|start off with|begin with a|conduct|carry out|undertake|launch|'
        'commence|initiate|engage in|keep on|continue|proceed with|get on with|'
        'get started with|get started on|get busy|i want some|i need some|we need some|'
        'we need a|a quick|a thorough|run a|conduct a|conduct an|carry out a|carry out an|'
        'undertake a|undertake an|perform|perform a'
    ),
    'WAIT ': 'give it',
    'BE': "is|are|has|gets|has got|it is|it's",
    'FILLER': (
        "is like|help me|help us|help me to|i want a|i want an|i need a|i need an|i'd like a|"
        "i would like a|i would like an|i'd like an|i want to have a|what|put|would you please|"
        "that you see|of what you see|see|what you see|time|rover's|it's time|want|need|have|"
        'a good|conditions|into|let|there is time|each|and also|an additional|get|of course|'
        'surely|once you can|please|pls|kindly|now|right now|immediately|at once|just|rover|'
        'the rover|curiosity|rosa|hey|hi|hello|ok|okay|alright|all right|well|so|also|the|to|'
        'of|for|at|by|on|with|your|its|my|our|me|it|you|us|about|approximately|roughly|exactly|'
        "i would like you to|i'd like you to|i need you to|we need you to|we want you to|"
        "want you to|let's|let us|your job is to|your task is to|go ahead and|proceed to|"
        'be so kind as to|be so kind and|if you would|if you please|if you can|if possible|'
        'thanks|thank you|thank you very much|a bit|a little|a little bit|some|this|that|these|'
        'here|where you are|more|another|extra|further|try to|do|do a|make a|make|perform|'
        'perform a|execute|from here|from there|there|your way|first|first of all|finally|'
        "lastly|buddy|there is|you are|for me|for us|away|i'd like|good|quick|quickly|slowly|"
        'carefully|nice|be|an|i ask you to|next|a distance of|an angle of|total|in total|'
        'towards|toward|toward the|onto|up to|possible|whole|entire|all the way|further on|sir|'
        'friend|give me|get me|give us|again|the way|own|then please|near|close to you|'
        'near here|straight away|as well|in|thx|ty|cheers|ta|many thanks|thanks a lot|'
        "thanks in advance|thank you so much|if you don't mind|if you do not mind|if that's ok|"
        "if that is ok|if that's alright|if it's not too much trouble|when you are ready|"
        "when you're ready|whenever you are ready|when you can|as soon as you can|"
        'as soon as possible|asap|um|uh|umm|uhm|hmm|hm|ah|oh|er|erm|like|for like|kind of|'
        'sort of|you know|basically|simply|gently|gradually|steadily|smoothly|cautiously|'
        'gingerly|briefly|promptly|swiftly|fast|slow|at full speed|at low speed|easy|a touch|'
        'a tad|a smidge|a hair|a fraction|a little way|a little further|a bit further|'
        'a bit more|a little more|a short way|a short distance|about a|around about|some more|'
        'only|merely|mere|a mere|precisely|somewhere around|circa|approx|approx.|more or less|'
        'or so|any|the very|very|very good|great|super|perfect|would be great|would be nice|'
        'would be good|would be lovely|would be perfect|would be fine|would be helpful|will do|'
        "is what i want|is what we need|is all i need|that is all|that's all|that'll be all|"
        "we need|we want|we'd like|we would like|i want|i need|i'd love|i would love|"
        "i'd love a|we need a|we want a|we'd like a|should be|needs to be|has to be|must be|"
        'ought to be|shall be|you should|you must|you have to|you need to|you shall|you are to|'
        "you're to|you ought to|you will|you'll|the mission is over|the mission is done|"
        "mission complete|mission accomplished|mission over|we are done|we're done|"
        "we are done here|we're done here|we are finished|we're finished|the job is done|"
        "the work is done|that's enough for today|that's it for today|that will do for today|"
        "that's all for today|it is getting late|it's getting late|it's late|time is up|"
        "time's up|today|tonight|this morning|this time|for now|for today|for once|"
        'for a moment|for a while|for a bit|for a start|to start with|to begin with|'
        'starting now|from now|mate|pal|dear|my friend|robot|curiosity rover|mr rover|dude|man|'
        'boss|captain|team|everyone|guys|folks|good morning|good afternoon|good evening|'
        'greetings|yo|howdy|yes|yeah|yep|you can find|you can see|you can get|'
        'that you can find|that you can see|which you can see|you find|you see|over there|'
        'out there|right there|right here|over here|there in front|around there|down there|'
        'up there|then and there|on the spot|in place|where you stand|as you are|on you go|'
        'there you go|come on|gimme|hand me|provide|provide me with|provide us with|i expect|'
        "i'm after|i am after|i'll have|i'll take|as usual|as before|as always|all of|each of|"
        'such|kindly do|simply do|in addition|additionally|too|besides|another set of|a set of|'
        'set of|a series of|series of|a number of|a few more|total of|a total of|in all|'
        "altogether|all together|overall|apiece|it happened|or it didn't happen|it on|using|"
        "via|through|by means of|thereby|with the help of|so that it|so that|so it runs|it's|"
        "its time to|it's time to|it is time to|time to|your next task is to|"
        'the next task is to|next task|your mission is to|your order is to|your orders are to|'
        'the order is to|order|command|task|mission|job|here is your task|new task|new order|'
        'here we go|ready|set|ideally|preferably|instantly|forthwith|this instant|this minute|'
        'this second|pronto|without delay|without further ado|if it is no trouble|'
        "if it's no trouble|if you wouldn't mind|nicely|properly|fully|completely|totally|"
        'entirely|safely|it all|everything|all|yourself|itself|rover yourself|body|chassis|'
        'vehicle|whole thing|complete|full|exact|approximate|distance|duration|period|'
        'length of|a duration of|a period of|a length of|a stretch of|span of|'
        'for a duration of|for a distance of|the space of|angle|degree angle|at an angle of|'
        'by an angle of|of about|of around|as far as|as much as|no more|then just|'
        'from where you are|from your current position|from your position|from this point|'
        'from this position|from this spot|at this point|at this position|at this spot|'
        'at your current position|in your current position|wherever you are|see if you can|'
        "the mast's|camera's|i want to see|i'd like to see|i would like to see|we want to see|"
        "we'd like to see|we would like to see|i want to have|i'd like to have|"
        'i would like to have|we want to have|class wants to|use|my class|my students|'
        'the class|the team|we all|still|currently|already|at present|presently|'
        'so that it runs|i want you looking backwards|i want you to look backwards|'
        'so that you look backwards|such that you face backwards|; keep it up for|'
        ', keep it up for|; keep that up for|, keep that up for|. keep it up for|'
        'and keep it up for|, keep at it for|; keep at it for|, and keep it up for|'
        ', continue for|; continue for|, go on for|, do that for|; do that for|and do that for|'
        'and do so for|, keep going for|; keep going for|and keep going for|, for|'
        ', keep this up for|and keep doing so for|drive a square|do a square|make a square|'
        'draw a square'
    ),
    'A': 'a|an|one single|single|the one|just one|only one|another',
    'THEN': (
        'then|and then|after that|after which|afterwards|afterward|and after that|next|'
        'and next|and finally|then finally|once there|when you get there|when you arrive|'
        'when there|once you arrive|once you are there|on arrival|when you are there|when done|'
        'when you are done|once done|followed by|before finally|once you get there|;|->|=>|>|'
        'when that is done|once that is done|as soon as you arrive|and afterwards|'
        'and when you get there|and when you arrive|and once there|second|secondly|third|'
        'thirdly|lastly|to finish|and lastly|before you finally|→|⇒|➡|-->|==>|after this|'
        'subsequently|thereafter|thereupon|following that|following this|from there|'
        "when you've arrived|when you have arrived|once you have arrived|once you've arrived|"
        'once you reach it|when you reach it|upon arrival|upon arriving|after arriving|'
        'after arrival|after you arrive|after you get there|as soon as you get there|'
        "as soon as you are there|as soon as you're there|once you're there|when you're there|"
        "once you're done|once you are done|when you're done|when you're finished|"
        'when you have finished|when you are finished|once finished|when finished|when ready|'
        "when complete|once complete|once that's done|when that's done|after that's done|"
        'after finishing|after finishing that|when you finish|once you finish|and once done|'
        'and when done|having arrived|having done that|having done so|that done|this done|'
        'and from there|and there|next up|next step|step one|step two|step three|step 1|step 2|'
        'step 3|step 1:|step 2:|step 3:|first step|second step|third step|last step|at last|'
        'in the end|at the end|at the very end|eventually|ultimately|fourth|fourthly|'
        'follow up with|following up with|follow that with|follow with|follow it with|'
        'follow this with|and follow up with|follow that up with|wrap up by|wrap up with|'
        'wrap it up with|wrap it up by|finish by|finish with|finish up by|finish up with|'
        'finish off by|finish off with|and finish by|and finish with|end with|end by|end up by|'
        'conclude by|conclude with|complete it with|complete it by|close by|close with|'
        'and end with|and end by|and conclude with|and conclude by|to end with|to end|'
        'to wrap up|to conclude|to close|ending with|ending by|finishing with|finishing by|'
        'straight after|straight after that|right after|right after that|immediately after|'
        'immediately after that|immediately afterwards|directly after that|soon after|'
        'a moment later|later|later on|and later|till you are there then|'
        "until you are there then|then we|and then we|then i want you to|then i'd like you to|"
        'and then i want you to'
    ),
    'AND': (
        'and|and also|plus|as well as|and please|&|together with|along with|and likewise|'
        "and in addition|and additionally|and too|'n'|n"
    ),
    'COMMA': ',|.|:|(|)|!|...|…|--|—|–|[|]|!!|{|}|..',
    'BUT': (
        'but|but instead|instead|rather|only|but only|but just|just instead|but still|however|'
        'yet|though|although|merely|and only|whereas|only that'
    ),
    'BACKBEFORE': (
        'before that|before this|before you do that|before doing that|but first|'
        'but before that|beforehand|but before you do that|but before this|'
        'but before you do so|before you do so|before doing so|but before doing so|'
        'prior to that|prior to this|but prior to that|ahead of that|but beforehand|'
        'just before that|right before that|but first of all|but do first|but start by|'
        'but not before'
    ),
    'BEFORE': (
        'before|before you|prior to|before you start|ahead of|prior to that you|in advance of|'
        'before going on to'
    ),
    'AFTER': (
        'after|after you|after you have|once you have|when you have|once you|as soon as you|'
        "after having|after you've|once you've|when you've|as soon as you have|"
        "as soon as you've|having|following|upon"
    ),
    'NEG+SANS': (
        'without|rather than|instead of|except|skip|without any|without a|without even|'
        'other than|apart from|sans|with no|leaving out|omitting|but no'
    ),
    'NEG': (
        "don't|dont|do not|never|not|no|avoid|but not|refrain from|please don't|forget about|"
        'leave out|you must not|you should not|no need to|nor|or|do not ever|'
        "under no circumstances|on no account|by no means|not to|don't you|never ever|needn't|"
        "you needn't|you need not|need not|you don't have to|you do not have to|don't have to|"
        "do not have to|don't need to|do not need to|you don't need to|you do not need to|"
        "there's no need to|there is no need to|it is not necessary to|omit|leave off|"
        "please do not|must not|mustn't|you mustn't|shouldn't|you shouldn't|should not|"
        "shall not|shan't|cannot|can't|hold off|hold off on|no more"
    ),
    'CORRECT': (
        'no|no wait|no sorry|sorry no|wait no|i mean|no i mean|i meant|no i meant|sorry|oops|'
        'actually|no actually|actually no|or rather|correction|rather|no make that|make that|'
        'make it|no make it|no not that|my mistake|wait|hmm no|uh no|er no|well no|oh no|'
        'sorry i mean|sorry i meant|not left|not right|not forward|i mean to say|'
        "i meant to say|no that's wrong|that's wrong|on second thought|on second thoughts|"
        'wait i mean|wait actually|oh wait|no no|er|err|um no|no i meant to say|correct that|'
        'correct that to|correction:|i misspoke|i misspoke i meant|my bad|my mistake i meant|'
        'oops i mean|oops i meant|oops no|whoops|whoops i meant|ah no|ah sorry|ah no sorry|'
        "nope|or better|better|or better yet|better yet|or no|or actually|let's make that|"
        "let's make it|change that to|change it to|sorry make that|sorry make it|"
        'no wait make it|no wait make that|actually make it|actually make that|wait make that|'
        'wait make it|well actually|my other left|my other right|the other left|'
        'the other right|the other way i mean|that should be|that should have been|'
        'it should be|should have said|i should have said|instead make it|i wanted to say|'
        "what i meant was|what i mean is|what i meant is|i really meant|that's not right|"
        "that is not right|that's not what i meant|that is wrong|that was wrong|wrong|typo|"
        'pardon|pardon me|excuse me|apologies|my apologies|hang on no|hold on no|wait a second|'
        'wait a moment|wait a sec|hang on|hold on|er sorry|um sorry|uh sorry|oh sorry|'
        'that is to say|or i mean|not that|not that way'
    ),
    'SCRATCH': (
        'scratch that|strike that|forget that|no scratch that|cancel that|ignore that|'
        'no forget that|undo that|disregard that|never mind that|scrap that|no strike that|'
        'erase that|delete that|drop that|take that back|i take that back|i take it back|'
        'forget it|forget what i said|forget i said that|disregard|disregard what i said|'
        'ignore what i said|ignore me|never mind|nevermind|nevermind that|changed my mind|'
        "i changed my mind|i've changed my mind|i have changed my mind|change of plan|"
        'change of plans|new plan|belay that|on second thoughts no|no cancel that|'
        'no ignore that|no disregard that|no forget it|actually forget that|'
        'actually scratch that|actually never mind|wait scratch that|sorry scratch that|'
        'strike it|scrap it|actually no scratch that|actually forget it'
    ),
    'IF': (
        'if|in case|provided|provided that|as long as|only if|but only if|if and only if|when|'
        "whenever|if it is|if it's|if its|in the case that|given that|supposing|suppose|"
        'suppose that|supposing that|assuming|assuming that|assuming it is|on condition that|'
        'on the condition that|provided it is|providing|providing that|in the event that|'
        "in the event of|so long as|just in case|whenever it is|when it is|when it's|"
        'if you find that|if you see that|if you notice that|if you notice|if you find|'
        'if you measure|if you detect|if ever|only when|but only when|only in case|just if|'
        'should it be|should it get|should it be that|should the|if there|if the|if your|'
        'if you|if by chance|if still|if already|if currently|should there be|should your|'
        "in case the|in case it is|in case it's|in case of|should"
    ),
    'UNLESS': 'unless',
    'ELSE': (
        'else|otherwise|if not|or else|in any other case|if that is not the case|'
        "if that's not the case|if it is not|if it isn't|or otherwise|and otherwise|"
        "if it's not|and if not"
    ),
    'UNTIL': "until|till|until it is|until it's|until you find|until you see|until you reach",
    'DARK': (
        "dark|too dark|it is dark|it's dark|its dark|it is too dark|it's too dark|dark here|"
        "not bright|it is not bright|it isn't bright|it's not bright|not bright enough|dim|"
        'too dim|there is no light|there is not enough light|it gets dark|it gets too dark|'
        "no light|not enough light|there isn't enough light|it is dark here|it's dark here|"
        "it is too dark here|shady|shadowy|gloomy|it's gloomy|it is gloomy|it's gloomy here|"
        "it is gloomy here|murky|pitch dark|pitch black|it's pitch dark|black|dark around|"
        'dark there|dark around here|it is dark around|the light is too low|light is low|'
        'the light is low|low light|poor light|bad light|the light is bad|the light is poor|'
        "light is poor|the light is dim|light is too dim|it's dim|it is dim|too little light|"
        "there's too little light|there is too little light|little light|there is little light|"
        "insufficient light|there's no light|there's not enough light|lack of light|"
        'not enough sun|there is no sun|no sun|without light|hardly any light|unlit|poorly lit|'
        "badly lit|not well lit|isn't bright|is not bright|isn't bright enough|"
        "is not bright enough|isn't light|still dark|it's still dark|it is still dark|"
        "it's getting dark|it is getting dark|gets dark|get dark|becomes dark|it becomes dark|"
        "it became dark|it's dark around|it looks dark|looks dark|it seems dark|seems dark|"
        "it happens to be dark|happens to be dark|it's shady|it is shady|dark already|"
        'already dark|it turns dark|it goes dark|in the dark|you are in the dark|'
        "you're in the dark|in the shade|you are in the shade|you're in the shade|in shadow|"
        "you are in shadow|you're in shadow|it's dark out|dark outside|it's dark outside|"
        'it is dark outside'
    ),
    'BRIGHT': (
        "bright|it is bright|it's bright|bright enough|it is bright enough|it gets bright|"
        'it becomes bright|there is light|there is enough light|enough light|lit|sunny|'
        "well lit|it is light|it's light|not dark|it is not dark|it isn't dark|it's not dark|"
        'it is light enough|it gets light|it gets brighter|it is bright here|brighter|'
        "brightest|better lit|it's bright enough|it is bright around|not too dark|"
        "it is not too dark|well-lit|it's bright here|it's bright now|bright here|bright now|"
        "bright around|bright there|still bright|it's still bright|it is still bright|"
        "already bright|there's enough light|there's light|there is sufficient light|"
        "there's sufficient light|sufficient light|plenty of light|there is plenty of light|"
        "there's plenty of light|lots of light|there is lots of light|good light|"
        'the light is good|light is good|the light is good enough|the light is sufficient|'
        "the light is enough|light is sufficient|light enough|it's light enough|decent light|"
        "bright out|it's bright out|it is sunny|it's sunny|sunny here|is sunny|isn't dark|"
        "is not dark|isn't too dark|is not too dark|it isn't too dark|it's not too dark|"
        'looks bright|it looks bright|it seems bright|seems bright|gets bright|get bright|'
        'gets brighter|becomes bright|sufficiently bright|it is sufficiently bright|'
        'adequately lit|well illuminated|brightly lit|luminous|it happens to be bright|'
        "happens to be bright|in the light|you are in the light|you're in the light|in the sun|"
        "you are in the sun|you're in the sun|the sun is shining|the sun shines|brighter here|"
        'nice and bright|bright and sunny|most brightly lit|best lit|more light|a lot of light|'
        'much light|the most light|most light|brighter area'
    ),
    'GO': (
        'take me to|take me|bring me to|lead me to|get me to|take us to|take us|goto|go|drive|'
        'move|roll|head|travel|advance|proceed|continue|come|run|walk|steer|navigate|set off|'
        'make your way|take yourself|bring yourself|get|approach|keep going|keep driving|'
        'start driving|start moving|begin driving|drive on|go on|move on|cruise|get yourself|'
        'relocate|make for|veer|bear|keep moving|push|creep|inch|crawl|journey|edge|inch along|'
        'nudge|nudge yourself|scoot|scoot over|shift|shift yourself|slide|glide|coast|trundle|'
        'trek|ride|motor|zip|hurry|rush|dash|march|amble|stroll|wander|step|shuffle|ease|'
        'ease yourself|mv|forge|press on|pull|pull up|progress|transit|traverse|hike|jog|'
        'sprint|speed|scamper|scuttle|scurry|trot|drift|gallop|plod|pootle|putter|chug|roll on|'
        'roll along|carry on|drive along|drive over|go along|move along|go over|come over|'
        'get over|keep on driving|keep on going|keep on moving|keep on|keep rolling|'
        'continue driving|continue moving|continue going|carry on driving|start to drive|'
        'start to move|start going|start rolling|set course for|set course|set a course for|'
        'set a course|set your course for|set out|set out for|set off for|set off to|'
        'set sail for|plot a course to|plot a course for|chart a course to|chart a course for|'
        'lay in a course for|steer for|aim for|make it to|make your way over|make your way to|'
        'make a beeline for|make tracks for|take off for|take off to|leave for|depart for|'
        'be off to|visit|pay a visit to|position yourself at|position yourself|'
        'place yourself at|place yourself|put yourself at|put yourself|park yourself at|'
        'park at|park yourself|station yourself at|show up at|turn up at|present yourself at|'
        'be at|be there at|end up at|arrive at|report to|get over to|get across to|get into|'
        'get in|get out to|get yourself to|get yourself over to|get yourself into|'
        'move yourself|move yourself to|move over|move into|move out|bring|bring me|'
        'bring us to|bring us|bring the rover to|bring the rover|take the rover to|'
        'take the rover|drive the rover|drive the rover to|drive me|drive me to|drive us|'
        'drive us to|drive yourself|drive yourself to|move the rover|move the rover to|'
        'send the rover to|send yourself to|carry me to|lead us to|lead the way to|guide me to|'
        'guide us to|escort me to|fetch me to|i need you at|we need you at|i want you at|'
        'we want you at|i need you in|i want you in|we need you in|we want you in|'
        'i need you to be at|i want you to be at|i want you to be in|your target is|'
        'the target is|target|your destination is|the destination is|destination|your goal is|'
        'the goal is|your next waypoint is|the next waypoint is|next waypoint|'
        'is where i need you to go|is where i want you to go|is where you should go|'
        'is where you need to go|is where we need you|is where i need you|is where i want you|'
        'is your target|is your destination|is your goal|is the target|is the destination|'
        'is the goal|cover|cover a distance of|do a drive of|drive a distance of|'
        'take a drive to|go for a drive to|take a trip to|make a trip to|go on a trip to|'
        'go out|head out|head over|head out to|head on|drive out|drive off|drive away|'
        'run along|get going|get moving|get rolling|get to moving|make a move|make headway|'
        'get driving|start off|pop over to|pop over|swing by|come along|walk over|walk up|'
        'walk yourself|roll over to|roll up to|roll yourself|gain|move up|go up|drive up|'
        'roll up|drive up to|come up|drive to it|go there|drive there|go to it|move there|'
        'move to it|get there|head there|head to it|drive over there|go over there|roll there|'
        'travel there|make your way there|head over there|navigate there|navigate to it|'
        'proceed there|go to that place|take me there|bring me there|move over there'
    ),
    'GO+ING': (
        'driven|moved|gone|driving|moving|going|rolling|heading|travelling|traveling|advancing|'
        'proceeding|navigating|you drive|you move|you go|you drive to|any movement|any driving|'
        'movement|heading off|creeping|inching|rolling on|being driven|you roll|you head|'
        "having driven|having moved|having gone|you have driven|you've driven|you have moved|"
        "you've moved|you have gone|approaching|walking|running|crawling|cruising|reaching|"
        'you reach|you have reached|arriving at|steering|going on'
    ),
    'TURN': (
        'turn|rotate|spin|swivel|pivot|swing|make a turn|do a turn|take a turn|turn yourself|'
        'rotate yourself|turns|hang|a turn|bend|swerve|curve|yaw|bear off|swing over|'
        'swing round|swing around|swing yourself|veer off|veer over|steer|steer yourself|wheel|'
        'wheel round|twist|twirl|revolve|spin yourself|pivot yourself|turn the rover|'
        'rotate the rover|spin the rover|keep turning|keep rotating|keep spinning|'
        'keep on turning|keep bearing|continue turning|continue rotating|start turning|'
        'start rotating|go on turning|adjust your heading|adjust heading|adjust your course|'
        'adjust course|adjust your direction|adjust your orientation|change your heading|'
        'change heading|change your course|change course|change direction|'
        'change your direction|alter course|alter your course|alter your heading|alter heading|'
        'correct your heading|correct your course|shift your heading|shift heading|'
        'set your heading|reorient yourself|reorient|orient yourself|orientate yourself|face|'
        'face yourself|aim|aim yourself|point yourself|point your nose|point the nose|'
        'turn your nose|turn your body|turn in place|turn on the spot|rotate in place|'
        'rotate on the spot|spin in place|spin on the spot|pivot on the spot|pivot in place|'
        'crank|tack|slew|angle yourself|jink|nudge|nudge yourself|nudge the nose|do a rotation|'
        'a rotation|rotation|make a rotation|perform a turn|perform a rotation|execute a turn|'
        'a pivot|do a pivot|a spin|do a spin|hook|hook a|bang a|take the next|slide|ease|shift|'
        'edge|turn it|go round|corner|sweep|pan|take'
    ),
    'TURN+ING': (
        'turned|have turned|rotated|turning|rotating|spinning|you turn|pivoting|any turns|'
        'bearing|veering|you rotate|you spin|you pivot|having turned|having rotated|'
        "you have turned|you've turned|swivelling|swiveling|swinging|steering|you have rotated|"
        'wheeling'
    ),
    'FORWARD': (
        'forward|forwards|ahead|straight|straight ahead|straight on|straight forward|onward|'
        'onwards|in front|to the front|straight forwards|forth|ahead of you|in a straight line|'
        'move_forward|in front of you|straightforward|fwd|foward|forwad|right ahead|'
        'right forward|right in front|dead ahead|dead straight|further forward|farther forward|'
        'further ahead|farther ahead|further on|farther on|further onwards|straight onwards|'
        'onwards ahead|straight onward|frontwards|frontward|straight along|straight out|'
        "out in front|out front|in front of yourself|the way you're facing|"
        'the way you are facing|the way you face|the way you are heading|'
        "the way you're heading|in the direction you're facing|in the direction you are facing|"
        'in the direction you face|in your direction|in the current direction|'
        'in your current direction|in your present direction|in your current heading|'
        'on your current heading|along your heading|on your current course|on this heading|'
        "on this course|along your current heading|where you're facing|where you are facing|"
        "where your nose points|where you're pointing|the way you are pointing|"
        "the way you're pointing|along a straight line|along a line|on a straight line|"
        'on a straight course|in a line|straight line|dead on|fore|fwds|frwd|forwards ahead|'
        'to your front|to the fore|toward the front|towards the front|due ahead|up ahead|'
        'ahead straight|straight in front|straight ahead of you|right on ahead|on ahead|'
        'a straight line|farther along|further along|farther out|onward ahead'
    ),
    'LEFT': (
        'left|leftward|leftwards|to the left|to your left|turn_left|anticlockwise|'
        'counterclockwise|counter-clockwise|anti-clockwise|on the left|on your left|left hand|'
        'lefthand|left-hand|port|left side|the left side|the left hand side|counter clockwise|'
        'lft|a left|left-hand side|the left-hand side|to the left-hand side|'
        'to your left-hand side|your left|the left|to port|leftways|left-wards|lefties|'
        'to your left side|to your left hand|on the left hand|left-turn|left turn|'
        'lefthand side|left handed|leftie|counter-clock|anticlock|against the clock|ccw|'
        'to lefthand|l|, that is, left|that is, left|, i.e. left|, ie left|, which is left'
    ),
    'RIGHT': (
        'right|rightward|rightwards|to the right|to your right|turn_right|clockwise|'
        'on the right|on your right|right hand|right-hand|starboard|right side|the right side|'
        'the right hand side|rigth|rght|a right|right-hand side|the right-hand side|'
        'to the right-hand side|to your right-hand side|your right|the right|to starboard|'
        'rightways|to your right side|to your right hand|right turn|right-turn|righthand side|'
        'righthand|cw|that is right|that is to say right|r|, that is, right|that is, right|'
        ', i.e. right|, ie right|, which is right'
    ),
    'AROUND+SHOOT': (
        'panorama|a panorama|panoramic picture|panoramic photo|full panorama|a full panorama|'
        '360 panorama|a 360 panorama|a 360 degree panorama|a 360 degree picture|a 360 picture|'
        'a 360 degree photo|a 360 photo|panorama shot|panorama photo|panorama picture|'
        'panoramic shot|panoramic view|a panoramic view|panoramic image|panoramas|pano|a pano|'
        'surround shot'
    ),
    'AROUND': (
        'each facing a different way|facing a different way|in all directions|around|round|'
        'all around|around you|all around you|around yourself|about-face|'
        'in different directions|in each direction|in several directions|in every direction|'
        'in various directions|from all sides|around here|all round|in a circle|on all sides|'
        'on every side|round you|to all sides|different directions|around the rover|around us|'
        'the other way|the other way around|in the opposite direction|to face the other way|'
        'to face backwards|facing different directions|pointing in different directions|'
        'from different angles|at different angles|from different directions|'
        'of different directions|of all sides|each in a different direction|'
        'everything around you|everything around|all that surrounds you|'
        'everything that surrounds you|what surrounds you|all your surroundings|'
        'your surroundings|from every angle|from all angles|from every side|'
        'from every direction|from all directions|at every angle|at all angles|'
        'at various angles|from various angles|from several angles|from a variety of angles|'
        'in every possible direction|in all possible directions|towards all sides|'
        'towards every side|every direction|all directions|every side|all sides|every way|'
        'all ways|all round you|all around the rover|around the vehicle|around itself|'
        'all about|all about you|round about you|round about|in several different directions|'
        'in many directions|in multiple directions|in opposite directions|in a full circle|'
        'all the way around|all the way round|around in a circle|round in a circle|full circle|'
        '360 degrees around|over 360 degrees|'
        'while turning|while turning around|while rotating|while spinning|while you turn|'
        'while you rotate|while turning round|while turning on the spot|'
        'while turning all the way round|while turning all the way around|as you turn|'
        'as you rotate|as you turn around|each pointing somewhere else|'
        'each one pointing somewhere else|each one pointing elsewhere|each pointing elsewhere|'
        'pointing somewhere else|each pointing a different way|'
        'each pointing in a different direction|each looking a different way|'
        'each in another direction|each one in a different direction|'
        'each from a different angle|each with a different heading|each at a different heading|'
        'with different headings|at different headings|each to a different side|'
        'to different sides|in a different direction each time|turning between shots|'
        'turning in between|turning between them|turn between them|with a turn in between|'
        'with a turn between|with turns in between|with the mast turned in between|'
        'covering all sides|covering all directions|covering every direction|'
        'that cover all sides|wraparound|surround|surroundings in all directions|'
        'the whole panorama|the full panorama|different ways|various directions|various angles|'
        'several angles|different angles|several directions|multiple directions|'
        'multiple angles|many directions|facing different ways|looking different ways|'
        'looking in different directions|towards different directions|facing all directions|'
        'facing various directions|with different orientations|in different orientations'
    ),
    'UTURN': (
        'u-turn|u turn|a u-turn|uturn|turn around|turn round|turn about|about face|about turn|'
        'turn yourself around|face the other way|spin around|turn back around|'
        'turn to face the other way|face backwards|rotate half way|turn halfway around|'
        'turn half way around|make an about-face|do a 180|pull a 180|do a one-eighty|'
        'turn backwards|one-eighty|a one-eighty|one eighty|do a one eighty|pull a one eighty|'
        'do a u turn|make a u turn|do an about turn|do an about-turn|an about turn|'
        'an about-turn|an about face|an about-face|do an about face|about-turn|'
        'i want you looking backwards|look backwards|looking backwards|look the other way|'
        'look behind you|face behind you|face what is behind you|face back|face the back|'
        'face the rear|face rearwards|face to the rear|face the opposite direction|'
        'face the opposite way|face the opposite side|turn to face backwards|'
        'turn to the opposite direction|turn in the opposite direction|turn the opposite way|'
        'turn the other way|turn to the other side|turn the other way around|'
        'turn the other way round|turn all the way about|turn to the back|turn to the rear|'
        'turn to face the back|turn to face behind|turn on your heel|turn on your heels|'
        'turn tail|reverse direction|reverse your direction|reverse your heading|'
        'reverse course|reverse your course|invert your heading|flip around|flip round|'
        'spin round|spin yourself around|swing around 180|swing right around|swing round 180|'
        'pivot around|pivot round|rotate around to face the other way|'
        'rotate to face the other way|rotate to the opposite direction|'
        'spin to face the other way|spin halfway around|rotate halfway|rotate halfway around|'
        'rotate half way around|spin half way around|turn half way|turn halfway|'
        'turn half way round|turn halfway round|a 180|180 turn|a 180 turn|180 degree turn|'
        'a 180 degree turn|do a 180 degree turn|do a 180 turn|make a 180 degree turn|'
        'make a 180 turn|hang a u-turn|pull a u-turn|pull a u turn|show me your back|'
        'turn your back|turn your back to me|turn your back on me|get turned around|'
        'turn yourself round|turn yourself about|turn back to front|opposite direction|'
        'face the way you came from|face the way you came|face where you came from'
    ),
    'TURN+SPIN': 'spin around once|spin round once|spin once|spin around one time',
    'SPIN': (
        '360|360 degrees|through 360 degrees|'
        'a full turn|full turn|a full circle|full circle|a full rotation|full rotation|'
        'a complete turn|a complete circle|once around|all the way around|all the way round|'
        'a complete rotation|one full turn|one full rotation|one full circle|a 360|'
        'one complete turn|in a full circle|full revolution|a full revolution|a whole turn|'
        'whole turn|a whole circle|whole circle|one whole turn|one whole circle|'
        'one complete circle|one complete rotation|a complete revolution|'
        'one complete revolution|one full revolution|one full spin|a full spin|full spin|'
        'a complete spin|complete spin|a whole rotation|one whole rotation|full 360|a full 360|'
        'a 360 degree turn|360 turn|a 360 turn|a three-sixty|a three sixty|three sixty|'
        'do a 360|do a three-sixty|pull a 360|pirouette|a pirouette|do a pirouette|'
        'a full lap on the spot|one lap on the spot|right round|all around once|'
        'around once completely|once around completely|once all the way around|'
        'once all the way round|once round|full turn around|full loop|a full loop'
    ),
    'ANGLE 180': (
        'half a turn|half turn|a half turn|half-turn|a half-turn|half way around|'
        'halfway around|half a circle|half a rotation|a half circle|half a revolution|'
        'one half turn|180 degree angle|half of a turn|half of a circle|half a spin|'
        'a half spin|half spin|a half rotation|half rotation|half revolution|one half rotation|'
        'a straight angle|straight angle|half circle|a semicircle|semicircle|a semi-circle'
    ),
    'ANGLE 90': (
        'a quarter turn|quarter turn|a quarter of a turn|quarter-turn|a right angle|'
        'right angle|quarter of a turn|a quarter of a circle|a quarter circle|'
        'a quarter rotation|one quarter turn|one right angle|a quarter-turn|'
        'one quarter of a turn|a quarter of a rotation|quarter rotation|quarter of a circle|'
        'quarter circle|one quarter circle|a quarter of a revolution|a quarter revolution|'
        'quarter revolution|a right-angle|one right-angle|right-angle|a square corner|a 90|'
        'a ninety|quarter turns|at right angles|at a right angle|perpendicular|perpendicularly|'
        'quarter turn yourself|quarter-turn yourself|ninety degrees'
    ),
    'BACKWARD': (
        'backward|backwards|reverse|in reverse|back up|rearwards|backing up|rearward|astern|'
        'to the rear|aft|behind you|reversing|backup|in reverse gear|retreat|go astern|'
        'tail first'
    ),
    'TAKE': (
        'take|snap|shoot|capture|get|grab|make|record|grab me|take me|take us|collect|acquire|'
        'do|obtain|take down|pick up|give me|give us|get me|get us|grab us|fetch|fetch me|'
        'fetch us|shoot me|shoot us|snap me|snap us|bring me|produce|send|send me|send us|'
        'deliver|generate|create|save|store|photograph me|catch|bag|nab|gather|perform|execute|'
        'trigger|fire|fire off|crack off|knock out|rattle off|squeeze off|click|set off|'
        'let me see|let us see|let me have|let us have|show me|show us'
    ),
    'TAKE+ING': (
        'taken|took|taking|snapping|capturing|shooting|you take|you shoot|recording|you capture'
    ),
    'PICTURE': (
        'picture|pictures|photo|photos|photograph|photographs|image|images|snapshot|snapshots|'
        'shot|shots|pic|pics|camera image|camera shot|photograph it|camera picture|snap|'
        'capture_and_score|photographs of|pictures of|frame|frames|selfie|photgraph|pitcure|'
        'picutre|still|stills|still image|still picture|camera shots|camera images|'
        'camera pictures|camera photo|camera photos|cam shot|cam shots|cam pic|cam pics|'
        'cam picture|cam image|snaps|exposure|exposures|photography|photographic image|'
        'photographic record|photographic evidence|visuals|screenshot|picture shot|photo shot|'
        'pickie|piccy|piccies|pix|foto|fotos|souvenir photo|camera frame|camera frames|'
        'digital image|digital photo|image capture|image captures|photo capture|view shot|'
        'colour picture|color picture|close-up|close up|closeup|wide shot|scenic shot|'
        'photo of it|picture of it|postcard|mugshot|portrait'
    ),
    'SHOOT': (
        'photograph|capture|capture now|snap away|capture an image|press the shutter|'
        'capture the scene|score the light|measure the light|measure the brightness|'
        'photograph whatever you see|photograph what you see|photograph all you see|'
        'photograph it all|photograph them|photograph each|photograph this|photograph that|'
        'photograph me|photograph us|photograph everything|shoot|shoot it|shoot it all|'
        'shoot them|shoot me|shoot us|shoot this|shoot each|shoot away|shoot everything|snap|'
        'snap it|snap this|snap that|snap them|snap each|snap everything|snap me|snap us|click|'
        'click the shutter|press the shutter button|hit the shutter|push the shutter|'
        'fire the shutter|fire the camera|trigger the camera|trigger the shutter|'
        'release the shutter|operate the camera|operate the shutter|use the camera|'
        'use your camera|use the camera to capture|use your camera to capture|'
        'use your camera to photograph|capture this|capture it|capture that|capture each|'
        'capture everything|capture the view|capture the scenery|capture the moment|'
        "capture what you see|capture what is in front of you|capture what's in front of you|"
        'capture with the camera|image|image it|image this|image the scene|film|film it|'
        'photo it|picture it|picture this|record the scene|record the view|record an image|'
        'record what you see|take one|take it|document|document it|document this|'
        'document the scene|document what you see|immortalise this|immortalize this|say cheese|'
        'cheese|snapshot|show me what you see|show us what you see|show me what you are seeing|'
        'show me what it looks like|show us what it looks like|let me see what you see|'
        'let us see what you see|let me see the view|let us see the view|show me the view|'
        'show us the view|show me the scene|show us the scene|show me the surroundings|'
        'show me your view|show us your view|photo|photo now|do a photo|do a picture|do photos|'
        'do pictures|measure the light level|measure how bright it is|check the brightness|'
        'check the light level|determine the brightness|get a brightness score|'
        'get a light score|score the brightness|score the view|measure brightness'
    ),
    'SHOOT+ING': (
        'photographing|any pictures|taking a picture|taking a photo|taking pictures|'
        'taking photos|taking any pictures|taking any photos|snapping a picture|'
        'snapping a photo|any photos|any photo|any picture|any images|any shots|you photograph|'
        'filming|having photographed|having taken a picture|having taken a photo|'
        'having taken the picture|having taken the photo|you have photographed|'
        "you've photographed"
    ),
    'OPEN': (
        'open|raise|deploy|extend|lift|unfold|put up|erect|elevate|open up|lift up|raise up|up|'
        'opened|raised|deployed|extended|mast_open|pop up|stick up|bring up|hoist|hoist up|'
        'put upright|jack up|crank up|stretch|stretch out|stretch up|extend up|unfurl|unstow|'
        'unstowed|unpack|unfolded|opened up|pop open|swing up|get into the air|into the air|'
        'in the air|raised up|all the way up|fully open|fully extended|lifted|erected|hoisted|'
        'put into position|deployed fully|get open|wide open|expanded|spread out|straighten|'
        'straighten up|heave up|stick out|set up|push up|pull up|expand|rise|stand up|get up'
    ),
    'OPEN+ING': (
        'opening|raising|deploying|you open|you raise|extending|lifting|unfolding|hoisting|'
        'erecting|putting up|you extend|you deploy|you lift|unstowing|having opened|'
        "having raised|you have opened|you have raised|you've raised|you've opened|"
        'having deployed'
    ),
    'CLOSE': (
        'close|lower|stow|retract|fold|put down|put away|down|fold down|fold away|fold up|shut|'
        'closed|stowed|lowered|retracted|mast_close|bring down|take down|fold in|pull in|'
        'tuck away|tuck in|collapse|pack away|pack up|folded|shut down|drop|fold back|'
        'fold back in|folded up|folded away|folded down|put back|put back down|put back in|'
        'bring back down|bring back in|get down|set down|lay down|let down|pull down|pull back|'
        'pull back in|pulled in|draw in|drag in|reel in|wind down|wind in|withdraw|drop down|'
        'tuck|tucked in|tucked away|stash|stash away|store|store away|packed up|packed away|'
        'pack down|pack in|stow away|stowed away|lowered down|all the way down|fully closed|'
        'closed up|close down|duck|duck down|crank down|flatten|lay flat|swing down|collapsed|'
        'in the stowed position|in its stowed position|to the stowed position|'
        'into the stowed position|into its stowed position|park|retracted fully|fold together|'
        'away|back in'
    ),
    'CLOSE+ING': (
        'closing|lowering|stowing|retracting|you close|you lower|you stow|folding|'
        "having closed|having stowed|having lowered|you have closed|you've closed|"
        "you have stowed|you've stowed|you have lowered|putting down|putting away|you retract|"
        'you fold|folding away|folding down|packing away'
    ),
    'MAST': (
        'take the mast|take your mast|'
        'mast|the mast|camera mast|the camera mast|sensor mast|mast of the camera|head|'
        'camera head|periscope|your mast|camera tower|camera pole|masthead|mast head|mast arm|'
        'camera stalk|your head|your neck|neck|mast camera|mastcam|camera boom|masts|'
        'mast of yours|remote sensing mast|rsm|masst'
    ),
    'CAMERA': (
        'camera|the camera|cameras|cam|webcam|lens|onboard camera|on-board camera|navcam|'
        'the cam|your camera|your cameras|optics'
    ),
    'LOOK': (
        'look around|have a look around|take a look around|look about|look around you|'
        'mast_rotate|look in all directions|look all around|look round|scan around|'
        'have a look round|look everywhere|pan around|take a look around you|look around here|'
        'glance around|look to all sides|pan the camera|rotate your head|have a look all round|'
        'have a look all around|have a good look around|take a good look around|'
        'take a look round|take a look about|have a look about|have a look around you|'
        'have a look round you|take a look all around|take a quick look around|'
        'have a quick look around|look all round|look all round you|look all around you|'
        'look all about|look all about you|look about you|look around yourself|'
        'look in every direction|look to every side|look on all sides|look from side to side|'
        'look from left to right|look round you|cast a glance around|cast an eye around|'
        'glance about|glance round|peek around|peer around|peep around|gaze around|gaze about|'
        'scan the horizon|scan your surroundings|scan the surroundings with the mast|'
        'scan with the mast|scan round|scan all around|sweep the horizon|sweep around|'
        'sweep the surroundings|sweep the view|survey the horizon|do a sweep|'
        'take a look in all directions|have a look in all directions|'
        'look in different directions|turn your gaze around|swivel your head|turn your head|'
        'turn your head around|turn the head|turn the head around|rotate the head|'
        'swivel the head|rotate your camera|pan your camera|pan the mast|pan left and right|'
        'pan round|pan the head|swing your head around|take in the view all around|'
        'check all around you|check all directions|check every direction|'
        'check the surroundings visually'
    ),
    'FIND': (
        'find|look for|search for|search|seek|seek out|locate|discover|hunt for|get to|reach|'
        'go find|go and find|find your way|hunt|find and go|find me|spot|look out for|'
        'have a look for|take a look for|go looking for|go look for|go and look for|'
        'go in search of|in search of|go searching for|go hunting for|go seeking|track down|'
        'scout for|scout out|scan for|chase|pursue|head for|run for|set off in search of|'
        'try and find|try to find|get hold of|detect|identify|pick out|make out|pinpoint|'
        'get into|move into|move out into|get out into|come out into|drive into|step into|'
        'roll into|go into|bathe in|bask in|sunbathe in|soak up|catch some|get some|get out of|'
        'come out of|move out of|drive out of|step out of|leave|escape|escape from|flee|'
        'flee from|exit|emerge from|get away from|move away from|drive away from|go away from|'
        'go out of'
    ),
    'FIND+ING': (
        'finding|looking for|searching for|searching|seeking|looking out for|locating|'
        "having found|you find|you have found|you've found"
    ),
    'SHADE': (
        'shade|shadow|the dark|out of the shade|out of the shadow|out of the dark|'
        'leave the shade|shadows|dark area|dark place|dark spot|the shade|the shadows|'
        'the gloom|this shade|this shadow|this dark place|this dark spot|this dark area|'
        'dark corner|dark hole|gloom|dark zone|dark region|murk|darkness'
    ),
    'LIGHT': (
        'the sun shines|light|lights|sunlight|sun|sunshine|lit area|lighted area|light area|'
        'lit ground|daylight|illumination|source of light|light source|lit place|lit spot|'
        'brightness|illuminated area|illuminated place|illuminated spot|illuminated|sunlit|'
        'sunlit area|brightly lit|the light source|where the sun shines|where the light is|'
        "well lit|well-lit|sun light|sunbeam|sunbeams|sun rays|sun's rays|rays of sun|"
        'rays of the sun|ray of light|rays of light|beam of light|light beam|bright light|'
        'brightest light|lamp|lights on|sunnier|sunniest|sunny place|sunny spot|sunny area|'
        'sunny side|bright side|bright place|bright spot|bright area|bright patch|'
        'patch of light|patch of sun|patch of sunlight|patch of sunshine|pool of light|'
        'lightest|lighter|lighter place|lighter area|lighter spot|best light|light spot|'
        'spot of light|lit-up|lit up|lit zone|lit region|light zone|luminous place|'
        'well-lit place|well-lit area|well-lit spot|well lit place|well lit area|well lit spot|'
        'better light|some light|some sun|some sunlight|some sunshine|some rays|a bit of sun|'
        "a bit of light|where it's sunny|where it is sunny|where there's sun|"
        "where there's light|where there is sun|where there is light|where there is more light|"
        "where there's more light|the lightest|direct sunlight|direct sun|direct light|"
        'full sun|full sunlight|natural light|for solar charging|where you can sunbathe|'
        'light ahead|light over there|glow'
    ),
    'PLACE': (
        "place|area|spot|somewhere|where it is|where it's|where there is|location|region|zone|"
        'ground|patch|side|a place|part|where|place where|point|position|coordinates|'
        'coordinate|pose|waypoint|co-ordinates|target|somewhere with|a spot with|anywhere|goal|'
        'a location|somewhere that is|to where|places|areas|spots|points|patches|corner|square|'
        'some place|someplace|some spot|some area|a place with|an area with|place with|'
        'spot with|area with|a place that is|a spot that is|an area that is|place that is|'
        "spot that is|area that is|place that's|spot that's|area that's|a place where|"
        'a spot where|an area where|spot where|area where|position where|location where|'
        "somewhere where|somewhere that's|wherever|wherever it is|wherever it's|"
        "wherever there is|wherever there's|nearest|nearest place|closest|the nearest|"
        'the closest|way point|way-point|the place|the spot|this place|this spot|this point|'
        'that place|that spot|that point|map point|map position|map coordinates|grid position|'
        'grid point|grid coordinates|grid reference|world coordinates|world position|'
        'position with coordinates|coords|coord|coordinate pair|destination|destination point|'
        'target point|target position|end point|location with coordinates|in the world frame|'
        'of the world frame|in world coordinates|in the map frame|on the map|stretch|segment'
    ),
    'EXPLORE': (
        'explore|analyze|analyse|investigate|survey|examine|inspect|study|scout|scan|check out|'
        'research|map|probe|assess|characterize|scout out|reconnoitre|look over|evaluate|'
        'do a survey of|carry out a survey of|make a survey of|perform an analysis of|analysis|'
        'exploration|an analysis of|a survey of|do an analysis of|recon|reconnoiter|recce|'
        'do a recce of|carry out a recce of|do recon of|do recon on|perform recon|'
        'perform recon of|reconnaissance of|do a reconnaissance of|patrol|prospect|tour|roam|'
        'roam around|roam about|wander around|rove|rove around|go exploring|do some exploring|'
        'do exploration|do some exploration|go and explore|go explore|go for an exploration|'
        'conduct an exploration of|conduct a survey|conduct a survey of|conduct an analysis of|'
        'conduct an investigation of|conduct an inspection of|conduct an examination of|'
        'conduct a study of|conduct research on|carry out an analysis of|carry out an analysis|'
        'carry out an exploration of|carry out an inspection of|carry out an investigation of|'
        'carry out a study of|carry out a terrain analysis|do a study of|do an exploration of|'
        'do an inspection of|do an investigation of|do an examination of|do a check of|'
        'do a scan of|do a survey|do research on|do some research on|do some geology|'
        'do geology|do some science|do science|do fieldwork|do field work|'
        'do a geological survey|geological survey|make an analysis of|make an inspection of|'
        'make an exploration of|make an examination of|make a study of|make a map of|'
        'make a terrain map|make a scan of|perform a survey|perform a survey of|'
        'perform an exploration of|perform an inspection of|perform an examination of|'
        'perform a study of|perform a scan of|perform a terrain analysis|perform an analysis|'
        'run an analysis of|run an analysis on|run a survey of|run a scan of|'
        'run a terrain analysis|run a check on|give me an analysis of|i want an analysis of|'
        'undertake a survey of|launch an exploration of|start an exploration of|'
        'begin an exploration of|start a survey of|begin a survey of|begin an analysis of|'
        'start an analysis of|start exploration|begin exploration|start analysis|'
        'begin analysis|characterise|determine the properties of|classify|categorize|'
        'categorise|catalogue|catalog|uncover|look into|look round|look through|scrutinize|'
        'scrutinise|size up|suss out|scope out|vet|appraise|assessment of|assessment|'
        'do an assessment of|make an assessment of|evaluation of|evaluation|survey of|'
        'inspection of|inspection|examination of|examination|investigation of|investigation|'
        'reconnaissance|study of|research on|exploration of|analysis of|map out|chart|comb|'
        'comb through|canvass|scour|sound out|get to know|get acquainted with|'
        'familiarize yourself with|familiarise yourself with|gain an understanding of|'
        'gather data on|gather data about|gather information about|gather information on|'
        'collect data on|collect data about|collect information about|collect information on|'
        'collect terrain data|gather terrain data|get data on|get information about|'
        'get information on|acquire data on|find out about|find out more about|'
        'learn more about|monitor|go over|analyse thoroughly|delve into|explore around|'
        'scan over|give it a survey|terrain analysis|a terrain analysis|ground analysis|'
        'a ground analysis|soil analysis|a soil analysis|terrain survey|a terrain survey|'
        'ground survey|a ground survey|site survey|a site survey|area survey|ground assessment|'
        'a ground assessment|terrain assessment|a terrain assessment|ground inspection|'
        'a ground inspection|terrain inspection|surface analysis|a surface analysis|'
        'surface inspection|surface survey|exploration of the area|field survey|explorations|'
        'anaylze|analize|analise|invesitgate|to understand|discover'
    ),
    'VIEW': (
        'look at|take a look at|have a look at|search|check|look into|find out|'
        'have a good look at|find out what|learn about|find out about|see what|see how|'
        'take a good look at|observe|watch|look around|walk around|drive around|'
        'take a closer look at|have a closer look at|get a closer look at|take a close look at|'
        'have a close look at|look closely at|look carefully at|take a look over|get a look at|'
        'get a good look at|have a look over|have a peek at|take a peek at|have a glance at|'
        'take a glance at|peek at|peer at|gaze at|stare at|glance at|go look at|go and look at|'
        'go have a look at|go and have a look at|go take a look at|go see|go and see|go check|'
        'go and check|go check out|go and check out|check on|check up on|keep an eye on|'
        "contemplate|behold|discover what|find out what is|find out what's|find out how|"
        "find out which|find out what kind of|see what is|see what's|see what kind of|"
        "see which|look what is|look what's|look what|look how|know about|know more about|"
        'hear about|get to know about'
    ),
    'EXPLORE+ING': (
        'exploring|analyzing|analysing|investigating|surveying|examining|inspecting|scanning|'
        'you explore|studying|you analyze|you analyse|you survey|you inspect|you examine|'
        'scouting|mapping|evaluating|assessing|having explored|having surveyed|having analyzed|'
        "having analysed|you have explored|you have surveyed|you've surveyed|you've explored|"
        'having examined|researching|probing|characterizing|patrolling|roaming|looking into'
    ),
    'GROUND': (
        'sky|horizon|hill|hills|mountain|mountains|sunset|yourself|shadow of the rover|ground|'
        'terrain|texture|textures|soil|surface|area|surroundings|rocks|rock|site|environment|'
        'mars|landscape|vicinity|region|sand|ground texture|neighborhood|neighbourhood|scene|'
        'scenery|dirt|regolith|land|place|martian|zone|geology|floor|planet|around you|'
        'around here|ahead of you|nearby|immediate|view|the ground here|features|crater|local|'
        'stones|stone|texture of the ground|geological|terrains|grounds|soils|sands|pebbles|'
        'pebble|gravel|boulders|boulder|dune|dunes|dust|outcrop|outcrops|bedrock|formation|'
        'formations|rock formation|rock formations|mineral|minerals|composition|make-up|makeup|'
        'properties|substrate|earth|patch|corner|places|locality|locale|setting|territory|'
        'terrain data|surrounding|surrounding area|surrounding terrain|surrounding ground|'
        'what surrounds you|nearby area|nearby terrain|area nearby|this area|the whole area|'
        'the area around you|area around you|the terrain around you|terrain around you|'
        'the ground around you|ground around you|the area around here|the area ahead|'
        'beneath you|beneath your wheels|below you|under you|under your wheels|underneath you|'
        'underneath your wheels|beneath|underneath|underfoot|at your feet|your feet|wheels|'
        'your wheels|the ground beneath you|the ground below you|the ground under you|'
        "the ground you stand on|you stand on|you are standing on|you're standing on|"
        "we stand on|we are standing on|we are on|we're on|you are on|you're on|"
        "in front of you|what is around here|what is around|what's around here|"
        "what is around you|what's around you|what is out there|what's out there|what is there|"
        "what's there|what is nearby|what's nearby|what is ahead|what's ahead|"
        "what is in front of you|what's in front of you|is around here|is around you|"
        'is out there|is nearby|is ahead|what you can find|what you find|whatever you find|'
        'whatever is there|whatever is around|is made of|made of|consists of|it is made of|'
        "it's made of|what it is made of|it is like|it's like|what it's like|what it is like|"
        'looks like|it looks like|landforms|relief|topography|geography|landscape features|'
        'feature|valley|slope|slopes|plain|plateau|ridge|cliff|canyon|horizon line|skyline|'
        'sundown|sunrise|clouds|cloud|stars|tracks|your tracks|wheel tracks|your shadow|object|'
        'objects|thing|things|stuff|stone over there|target rock|neighboring area|'
        'neighbouring area|neighbor|proximity|red planet|martian ground|martian soil|'
        'martian surface|martian terrain|crater floor|field|grit|clay|regolith sample|'
        'terrain type|surface type|soil type|ground type|type of ground|type of soil|'
        'type of terrain|kind of ground|kind of soil|kind of terrain|kind of surface|'
        'type of surface|condition of the ground|ground conditions|ground condition|'
        'terrain conditions|soil conditions|state of the ground|surface texture|soil texture|'
        'terrain features|surface features|roughness|quality|nature of'
    ),
    'SAMEPLACE': (
        'where you started|where you began|where you started from|where you came from|'
        'where you set out|where you set off|where you set out from|where you departed|'
        'where you departed from|the place you started|the place you started from|'
        'the place where you started|the point where you started|the spot where you started|'
        'the place you came from|the place where you began'
    ),
    'BASE': (
        'base|home|start|start position|starting point|starting position|origin|station|'
        'starting place|where we started|start point|charging station|charger|home base|'
        'initial position|home position|base camp|dock|camp|the beginning|original position|'
        'starting location|charging place|lander|where it all began|start location|beginning|'
        'point of origin|point of departure|docking station|your start|headquarters|the base|'
        'homebase|base station|home station|your base|your home|our base|our home|mother ship|'
        'mothership|launch site|landing site|landing place|landing point|launch point|garage|'
        'hangar|parking place|parking spot|parking position|depot|starting spot|the start|'
        'start line|starting line|starting area|initial location|initial point|initial place|'
        'original location|original place|original point|original spot|original starting point|'
        'first position|first location|very beginning|very start|where we began|'
        'where you first were|where it all started|where everything began|zero point|'
        'the zero point|home point|home location|home spot|home site|charging point|'
        'charging dock|charging base|recharging station|power station|recharge station|outpost|'
        'nest|kennel|hq|main base|starting pose|initial pose|home pose|basecamp|the origin|'
        'outset'
    ),
    'BACK': (
        'come back|return|go back|drive back|head back|get back|back|move back|come back here|'
        'return here|come back to me|back here|come back to where you are now|'
        'return to where you are now|back to where you are now|back to here|back again|'
        'return to this spot|return to this place|back to this spot|back to this place|'
        'come back to this spot|travel back|come back again|roll back|come on back|'
        'to where you are|back to your current position|return to your current position|'
        'to where you were|back to where you were|return to where you were|turn back|'
        'back to the same spot|back to me|return to me|make your way back|get back here|'
        'get back to me|get back to here|come right back|drive back here|drive back again|'
        'go back again|come straight back|return again|return back|return to here|'
        'return to where you are|return to the same spot|return to the same place|'
        'return to this point|return to this position|return to your present position|'
        'return to your present location|return to your current location|'
        'come back to this point|come back to this position|come back to your current position|'
        'come back to the same place|come back to the same spot|back to this point|'
        'back to this position|back to your present position|back to where you are|'
        'back to the spot you are at now|back where you are|back where you are now|'
        'back where you were|back to this location|to where you are now|'
        'to where you are at the moment|to this spot|to this place|to this point|'
        'retrace your steps|retrace your path|retrace your way|retrace your tracks|backtrack|'
        'double back|track back|trace your way back|find your way back|work your way back|'
        'make your way back here|wander back|walk back|run back|steer back|swing back|be back|'
        'be back here|and back'
    ),
    'HOMEWARD': (
        'rtb|go home|come home|drive home|head home|return home|homeward|back home|'
        'go back home|homewards|home again|back home again|get home|get back home|'
        'get yourself home|get yourself back home|come back home|drive back home|'
        'head back home|make your way home|make your way back home|find your way home|'
        'make for home|home we go|bring it home|bring the rover home|bring the rover back home|'
        'take us home|take me home|bring us home|bring yourself home|bring yourself back home|'
        'run home|roll home|walk home|travel home|travel back home|return back home|move home|'
        'steer home|navigate home|homecoming|home please|home now|home james|'
        'go back to the beginning'
    ),
    'BACK+ING': (
        'coming back|returning|going back|driving back|you return|you come back|heading back|'
        "having returned|having come back|you have returned|you've returned|you go back|"
        'you drive back'
    ),
    'WAIT': (
        'wait|pause|hold|sleep|stay|rest|idle|hang on|stand by|stay put|do nothing|hold on|'
        'stand still|linger|stay still|wait there|wait here|delay|let pass|remain|relax|'
        'take a break|have a rest|stay there|stop|halt|stop there|freeze|wait for|wait a full|'
        'wait another|hold your position|hold position|hold still|stay in place|stay put for|'
        'stay here|stay where you are|stay as you are|stand by for|standby|keep still|'
        'keep waiting|keep calm|sit tight|sit still|sit there|take a rest|take a pause|'
        'take a breather|take a nap|have a break|have a pause|make a pause|make a break|'
        'make a stop|take five|chill|chill out|bide|loiter|dwell|stay idle|be idle|be still|'
        'remain still|remain there|remain here|remain stationary|remain where you are|'
        'stay stationary|be patient|kill time|stop for|stop moving for|pause for|rest up|'
        'hang around|hang about|hang tight|tarry|snooze|doze|nap|hibernate|delay for|break|'
        'a break|stand|sit|suspend|a pause|a wait|a rest'
    ),
    'WAIT+ING': (
        'waiting|pausing|you wait|resting|a pause of|a wait of|a break of|you pause|'
        "having waited|you have waited|you've waited|a delay of|a rest of|holding|sleeping|"
        'standing by|another pause of'
    ),
    'REPORT': (
        'report|tell me|tell us|show|show me|give me|give us|send me|state|check|print|display|'
        'let me know|get|read out|what is|give a report of|inform me about|tell me about|'
        'inform me of|announce|say|report on|report back|report about|let us know|send|'
        'send a report of|send a report on|send me a report on|write|write a report on|'
        'give me a report on|give us a report on|give me a report of|give me an update on|'
        'give us an update on|give an update on|update me on|update us on|keep me informed of|'
        'brief me on|fill me in on|fill us in on|let me hear|let us hear|share|post|output|log|'
        'read back|read me|relay|transmit|radio|radio back|radio in|message me|describe|'
        'summarize|summarise|list|check in with|check in|announce to me|call in'
    ),
    'STATUS': (
        'status|state|your status|position|your position|where you are|telemetry|condition|'
        'location|pose|how you are|get_status|status report|battery|your state|report status|'
        'status update|your condition|the result|how you are doing|where you are now|'
        'battery level|health|heading|a status report|coordinates|battery status|'
        'battery charge|your location|state of the rover|rover state|rover status|'
        'vehicle status|vehicle state|system status|status of the rover|your status report|'
        'status info|status information|your situation|situation|your health|'
        'your position and status|current state|current status|current position|'
        'current location|current pose|your current state|your current status|'
        "your current position|your current location|where you ended up|where you've ended up|"
        'where you have ended up|how it went|what happened|result|results|the results|'
        'the outcome|outcome|your findings|findings|how things are|how you feel|'
        'your condition report|sitrep|a sitrep|a status|a status update|a report|state report|'
        'battery state|remaining battery|remaining charge|charge level|your charge'
    ),
    'STOPEND': (
        'and stop|then stop|and then stop|and halt|then halt|, stop|and stop there|'
        'and then halt|then stop there|and come to a stop|and stop again|stop after that|'
        'then come to a stop'
    ),
    'BATTERY': (
        'battery|charge|battery level|battery charge|power|your battery|state of charge|energy'
    ),
    'ABOVE': (
        'above|over|more than|greater than|higher than|at least|is above|exceeds|>|'
        'has more than|is more than|is over|is higher than|no less than|is at least|'
        'better than|is greater than|bigger than|has over|is still above|still above|'
        'is still over|stays above|remains above|is beyond|beyond|north of|is bigger than|'
        'upwards of|in excess of|surpasses|tops|has at least|>=|greater or equal to|'
        "is not below|is not under|is not less than|isn't below|is no less than"
    ),
    'BELOW': (
        'below|under|less than|lower than|at most|is below|<|has less than|is less than|'
        'is under|is lower than|smaller than|drops below|falls below|no more than|is at most|'
        'has under|has fewer than|fewer than|is fewer than|is still below|still below|'
        'still under|stays below|remains below|sinks below|goes below|gets below|dips below|'
        'has dropped below|has fallen below|dropped below|fell below|is smaller than|beneath|'
        "is beneath|<=|is not above|is not over|is not more than|isn't above|is no more than|"
        'under or equal to'
    ),
    'AXISX': (
        'x|x:|x =|x=|x is|x equals|x-coordinate|x coordinate|x value|x position|x of|x-value|'
        'x coordinate is|x-coordinate is|x coordinate of|x being|with x|x at|where x is|x to'
    ),
    'AXISY': (
        'y|y:|y =|y=|y is|y equals|y-coordinate|y coordinate|, y|and y|, y =|, y=|y value|'
        'y position|y of|y-value|y coordinate is|y-coordinate is|y coordinate of|y being|'
        'with y|y at|where y is|y to'
    ),
    'MINUS': 'minus|negative',
    'UNIT DUR 1': (
        "s|sec|secs|second|seconds|second's|secnds|secodns|secs.|sec.|seks|s.|seccond|secconds|"
        "sceonds|secound|secounds|secnd|secnods|a second's"
    ),
    'UNIT DUR 60': 'min|mins|minute|minutes|min.|minuets|minuts|minite|minites',
    'UNIT DUR 3600': 'h|hour|hours|hr|hrs',
    'UNIT DIST 1': (
        "m|meter|meters|metre|metres|mtr|meteres|metters|m.|metres'|mtrs|meter's|metre's|metr|"
        'metrs|meteters'
    ),
    'UNIT DIST 0.01': (
        "cm|centimeter|centimeters|centimetre|centimetres|centimetre's|centi-metres|cms|"
        'centimetrs|centimters|cm.'
    ),
    'UNIT DIST 0.001': 'mm|millimeter|millimeters|millimetre|millimetres',
    'UNIT DIST 1000': (
        "km|kilometer|kilometers|kilometre|kilometres|kms|kilometres'|klicks|klick|kilometer's"
    ),
    'UNIT DIST 0.3048': 'ft|foot|feet|ft.|foots',
    'UNIT DIST 0.9144': 'yard|yards|yd|yds',
    'UNIT ANGLE 1': (
        "degree|degrees|deg|degs|°|degress|degreees|degree's|degree turn|degrees turn|degs.|"
        'deg.|degree rotation|degrees of rotation|degrees of arc|dgrees|degreess|degees|'
        'degreed|digrees'
    ),
    'UNIT ANGLE 57.29577951308232': 'rad|radian|radians',
    'UNIT ANGLE 360': (
        'full turns|turns|rotations|circles|revolutions|full rotations|complete turns|'
        'complete rotations|whole turns|full circles|spins|full spins|laps on the spot'
    ),
    'UNIT PCT 1': '%|percent|per cent|pct',
    'UNIT TIMES 1': (
        'times|time|x|rounds|repetitions|repeats|iterations|cycles|runs|goes|passes|'
        'rounds of that|times over|times in all|times in total|times altogether|times in a row|'
        'times running|times in succession|reps|sets'
    ),
    'HALF': 'and a half|and half|1/2|point five|.5|½|and one half',
    'HALFOF': (
        'half|half a|half an|a half|one half|half of a|half of an|one half of a|1/2 a|1/2|½|'
        'half of'
    ),
    'QUARTEROF': (
        'quarter|quarter of a|a quarter of a|a quarter of an|quarter of an|one quarter of a|'
        '1/4|¼|a quarter|quarter of'
    ),
    'TIMES 1': 'once',
    'TIMES 2': (
        'twice|two times|2 times|2x|x2|once more the same|the same again|the same once more|'
        'the same thing again|the same thing once more|the same thing over again|do it again|'
        'do that again|do this again|do so again|do it once more|do that once more|'
        'do this once more|do it over|do it all again|do it all over again|'
        'do that all over again|do the same again|do the same once more|'
        'do the same thing again|do everything again|do all that again|do all of that again|'
        'and again|all over again|over again|repeat once|repeat it once|repeat that once|'
        'repeat this once|repeat once more|repeat it once more|repeat that once more|'
        'repeat everything once|repeat the whole thing once|two times over|twice over|'
        'twice in a row|2 times in a row|twice in all|twice in total|a second time|same again|'
        'same thing again|same again please|one more time the same|the whole thing again|'
        'the whole lot again|run it again|run that again|rinse and repeat'
    ),
    'TIMES 3': 'thrice|three times|three times over|thrice over',
    'REPEAT': (
        'repeat|repeat that|repeat this|repeat it|do that|do this|do it|do so|all of that|'
        'and repeat|all this|do all that|do all this|do the whole thing|do all of that|'
        'repeat the sequence|repeat this sequence|repeat that sequence|'
        'repeat the whole sequence|repeat the procedure|repeat this procedure|repeat the steps|'
        'repeat these steps|repeat those steps|repeat all steps|repeat everything|'
        'repeat all of it|repeat all that|repeat all this|repeat the whole|'
        'repeat the whole thing|repeat the lot|repeat them|repeat the same|repeat the action|'
        'repeat this action|repeat the actions|repeat the moves|repeat the manoeuvre|'
        'repeat the maneuver|repeat the loop|repeat the cycle|loop|loop that|loop this|loop it|'
        'cycle|iterate|do everything|do it all|do the lot|do the sequence|do this sequence|'
        'do these steps|do the same|do the same thing|do the following|the following|all of it|'
        'all of this|the lot|the whole lot|this sequence|that sequence|the sequence|'
        'the whole sequence|this procedure|run this|run that|run it|run this sequence|'
        'run the sequence|perform this|perform that|perform this sequence|execute this|'
        'execute that|execute this sequence|carry this out|carry that out|over and over|'
        'go through this|go through that|this whole thing|the above|do the above|'
        'repeat the above|perform the above'
    ),
    'COUNT 2': 'a couple of|a pair of|a couple|couple of|pair of|a brace of',
    'EACH': (
        'different|separate|single|more|new|consecutive|in a row|distinct|successive|'
        'in succession|one after another|one after the other|back to back|fresh|burst of|'
        'a burst of|sequence of|a sequence of|rapid|various'
    ),
    'NUM 0': 'zero|nil|nought|naught',
    'NUM 1': 'one',
    'NUM 2': 'two',
    'NUM 3': 'three',
    'NUM 4': 'four',
    'NUM 5': 'five',
    'NUM 6': 'six',
    'NUM 7': 'seven',
    'NUM 8': 'eight|eigth',
    'NUM 9': 'nine',
    'NUM 10': 'ten',
    'NUM 11': 'eleven',
    'NUM 12': 'twelve|twelfe',
    'NUM 13': 'thirteen',
    'NUM 14': 'fourteen|forteen',
    'NUM 15': 'fifteen|fiveteen|fifeteen',
    'NUM 16': 'sixteen',
    'NUM 17': 'seventeen',
    'NUM 18': 'eighteen',
    'NUM 19': 'nineteen',
    'NUM 20': 'twenty',
    'NUM 30': 'thirty',
    'NUM 40': 'forty|fourty',
    'NUM 50': 'fifty',
    'NUM 60': 'sixty',
    'NUM 70': 'seventy',
    'NUM 80': 'eighty',
    'NUM 90': 'ninety|ninty|ninetey',
    'NUM 12.0': 'a dozen|dozen',
    'TENFOLD 100': 'hundred|a hundred',
    'TENFOLD 1000': 'thousand|a thousand',
    'POINT': 'point',
    'ANGLE 45': (
        'half a right angle|an eighth of a turn|one eighth of a turn|an eighth turn|'
        'eighth of a turn|half a quarter turn'
    ),
    'ANGLE 60': 'a sixth of a turn|one sixth of a turn',
    'ANGLE 120': 'a third of a turn|one third of a turn|a third of a circle',
    'ANGLE 270': (
        'three quarters of a turn|three quarter turn|a three quarter turn|'
        'three quarters of a circle|three-quarter turn|a three-quarter turn|'
        'three quarter turns|three right angles'
    ),
    'ANGLE 30': 'a twelfth of a turn',
    'WH': (
        "what kind of|what sort of|what type of|which kind of|what are|what is|what's|where is|"
        "where's|where is the|where are|is there|is there any|is there a|are there|"
        'are there any|do you see|do you see any|can you see|can you see any|i wonder what|'
        "i wonder how|i wonder|i wonder what is|i wonder which|i'm curious about|"
        "i am curious about|i'm curious what|i am curious what|i'd like to know what|"
        "i want to know what|i would like to know what|i'd like to know about|"
        "i want to know about|i want to know|i'd like to know|i would like to know|"
        "we'd like to know|we want to know|i'd like to understand|we'd like to understand|"
        'i want to understand|we want to understand|we would like to understand|'
        'i would like to understand|are we on|are we standing on|are you on|'
        'are you standing on|am i on|do we have|do we have here|have we got here|which|'
        'which kind|does it look like|does the|does it|do you|looks interesting|'
        'look interesting|seem interesting|seems interesting|is interesting|are interesting|'
        'interests me|interests us|is unknown|is unfamiliar|is like'
    ),
    'HOMEWARD+ING': (
        'heading home|going home|driving home|returning home|coming home|you go home|'
        'you return home|you head home|heading back home|going back home'
    ),
    'UNIT DIST 0.1': 'decimeter|decimeters|decimetre|decimetres|dm',
    'UNIT DIST 0.0254': "inches|inch's",
    'UNIT DIST 1609.344': 'mile|miles',
    'UNIT ANGLE 90': 'quarter turns|right angles|quarter-turns|quarters of a turn',
    'UNIT ANGLE 180': 'half turns|half-turns',
    'UNIT WAYS 1': (
        'different ways|different directions|directions|ways|angles|different angles|sides|'
        'different sides|headings|different headings|distinct directions|separate directions|'
        'other directions|points of the compass|compass directions|cardinal directions|'
        'various directions|viewing directions|orientations|viewpoints|perspectives|'
        'different perspectives|different orientations'
    ),
    'MULT': 'times|×',
    'COUNT 3': 'a trio of',
    'COUNT 6': 'half a dozen|half-a-dozen|a half dozen|half dozen',
    'COUNT 1': (
        'another one|one more|one more of those|just the one|one other|yet another|a fresh one|'
        'a second one|a new one'
    ),
    'SIMUL': (
        'at the same time|simultaneously|at once both|in parallel|concurrently|'
        'at the very same time|meanwhile|in the meantime|and meanwhile|all the while'
    ),
    'MEANS': (
        'by turning|by driving|by rotating|by spinning|by moving|by going|by steering|'
        'by heading|by pivoting'
    ),
    'FACE': 'look|looking|facing|pointing|pointed|aimed|directed',
    'LATERIN': 'in|after|in another|in about|after another',
    'AGAIN': 'again|once more|once again|one more time',
    'HOMEBASE': 'home|base|homebase',
    'GOTHERE': (
        'drive to it|go there|drive there|go to it|move there|move to it|get there|head there|'
        'head to it|and go there|drive over|drive over there|go over there|drive right there|'
        'roll there|travel there|make your way there|head over there|navigate there|'
        'navigate to it|proceed there|go to that place|go to that point|drive to that point|'
        'drive to that place|off you go|take me there|bring me there|and drive there|'
        'move over there'
    ),
    'ONWARD': 'on|out|more|farther|further|onward|forth',
}
